"use strict";
/* Draws the sections of a page from its data. Strings of a run are inserted as text, never as markup. */
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const DASHES = ["", "8 4", "2 3", "10 3 2 3", "5 2", "1 4", "12 5", "6 2 1 2"];
  const MARKS = ["circle", "square", "diamond", "triangle"];
  const hidden = new Map(); // For each chart: the curves that the reader switched off.
  const shown = new Map(); // For each section: the data that was drawn, as JSON.

  function node(name, attributes = {}, ...children) {
    const made = name.startsWith("svg:") ? document.createElementNS(SVG, name.slice(4)) : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
    }
    made.append(...children);
    return made;
  }

  const color = (number) => `var(--c${number % 8})`;
  // From the ninth curve on, colors repeat with another mark: 32 curves differ in color or mark.
  const markOf = (look) => MARKS[(look + Math.floor(look / 8)) % MARKS.length];

  function formatted(value) {
    if (typeof value !== "number") return String(value);
    if (Number.isInteger(value)) return value.toLocaleString("en").replaceAll(",", "\u202f");
    const size = Math.abs(value);
    if (size >= 100) return Math.round(value).toLocaleString("en").replaceAll(",", "\u202f");
    if (size >= 0.001) return String(Number(value.toPrecision(3)));
    return value.toExponential(1);
  }

  /* Axes ------------------------------------------------------------------------------------------------------ */

  function scale(axis, values, start, stop) {
    const good = values.filter((value) => Number.isFinite(value) && (!axis.log || value > 0));
    let low = Math.min(...good), high = Math.max(...good);
    if (!good.length) [low, high] = [axis.log ? 1 : 0, 10];
    if (axis.log) {
      if (low === high) [low, high] = [low / 2, high * 2];
      const margin = (high / low) ** 0.04;
      [low, high] = [low / margin, high * margin];
      const width = Math.log(high / low);
      const place = (value) => start + (Math.log(value / low) / width) * (stop - start);
      return { place, ticks: logTicks(low, high) };
    }
    low = Math.min(0, low);
    if (low === high) high = low + 1;
    const step = nice((high - low) / 5);
    high = Math.ceil(high / step - 1e-9) * step;
    const ticks = [];
    for (let tick = Math.ceil(low / step) * step; tick <= high + step * 1e-6; tick += step) ticks.push(Number(tick.toPrecision(12)));
    return { place: (value) => start + ((value - low) / (high - low)) * (stop - start), ticks };
  }

  function nice(step) {
    const power = 10 ** Math.floor(Math.log10(step));
    return [1, 2, 5, 10].find((each) => each * power >= step - 1e-12) * power;
  }

  function logTicks(low, high) {
    if (high / low < 4) { // Powers of ten are too far apart.
      const step = nice((high - low) / 5), near = [];
      for (let tick = Math.ceil(low / step) * step; tick <= high; tick += step) near.push(Number(tick.toPrecision(6)));
      return near;
    }
    const steps = high / low > 3000 ? [1] : high / low > 12 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 7];
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
      for (const step of steps) {
        const tick = Number((step * 10 ** power).toPrecision(6));
        if (tick >= low && tick <= high) ticks.push(tick);
      }
    return ticks;
  }

  function frame(plot, box, across, up, xLabel, yLabel) {
    let last = -Infinity;
    for (const tick of across ? across.ticks : []) {
      const x = across.place(tick);
      plot.append(node("svg:line", { class: "grid", x1: x, x2: x, y1: box.top, y2: box.bottom }));
      const label = formatted(tick), half = label.length * 3.6, middle = Math.min(x, box.width - half); // Stay inside the edge.
      if (middle - half < last + 6) continue; // No room for the label.
      last = middle + half;
      plot.append(node("svg:text", { x: middle, y: box.bottom + 20, "text-anchor": "middle" }, label));
    }
    for (const tick of up ? up.ticks : []) {
      const y = up.place(tick);
      plot.append(node("svg:line", { class: "grid", x1: box.left, x2: box.right, y1: y, y2: y }));
      plot.append(node("svg:text", { x: box.left - 6, y: y + 4, "text-anchor": "end" }, formatted(tick)));
    }
    plot.append(node("svg:line", { class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }));
    const middle = (box.left + box.right) / 2;
    plot.append(node("svg:text", { x: middle, y: box.bottom + 38, "text-anchor": "middle" }, xLabel));
    if (yLabel) plot.append(node("svg:text", { class: "title", x: 4, y: 12 }, yLabel));
  }

  function canvas(holder, height, left, top = 32) { // The top margin has room for the title of the axis.
    const width = Math.max(holder.clientWidth, 200);
    const plot = node("svg:svg", { class: "plot", viewBox: `0 0 ${width} ${height}`, height, role: "img", tabindex: 0 });
    return { plot, box: { left, right: width - 12, top, bottom: height - 46, width } };
  }

  function mark(kind, x, y, size, attributes) {
    if (kind === "circle") return node("svg:circle", { cx: x, cy: y, r: size, ...attributes });
    if (kind === "square") return node("svg:rect", { x: x - size, y: y - size, width: 2 * size, height: 2 * size, ...attributes });
    const points = kind === "diamond"
      ? [[0, -1.3], [1.3, 0], [0, 1.3], [-1.3, 0]] : [[0, -1.3], [1.2, 1], [-1.2, 1]];
    return node("svg:polygon", { points: points.map(([a, b]) => `${x + a * size},${y + b * size}`).join(" "), ...attributes });
  }

  /* Tooltips, by pointer and by the arrow keys -------------------------------------------------------------------- */

  function addTooltip(figure, plot, rows) {
    // rows: lists of {x, y, text}. Up and down move between lists, left and right along a list.
    const tip = node("div", { class: "tip", role: "status", hidden: true });
    const cursor = node("svg:circle", { class: "cursor", r: 6, visibility: "hidden" });
    plot.append(cursor);
    figure.append(tip);
    let row = 0, column = -1;
    const hide = () => { tip.hidden = true; cursor.setAttribute("visibility", "hidden"); };
    function show() {
      const spot = rows[row][column];
      cursor.setAttribute("cx", spot.x);
      cursor.setAttribute("cy", spot.y);
      cursor.setAttribute("visibility", "visible");
      tip.hidden = false;
      tip.textContent = spot.text;
      const shrink = plot.getBoundingClientRect().width / plot.viewBox.baseVal.width || 1;
      const x = spot.x * shrink, room = figure.clientWidth - tip.offsetWidth;
      tip.style.left = `${Math.max(0, Math.min(room, x < room ? x + 12 : x - tip.offsetWidth - 12))}px`;
      tip.style.top = `${Math.max(0, spot.y * shrink - tip.offsetHeight - 10)}px`;
    }
    plot.addEventListener("pointermove", (event) => {
      const area = plot.getBoundingClientRect(), shrink = plot.viewBox.baseVal.width / area.width;
      const x = (event.clientX - area.left) * shrink, y = (event.clientY - area.top) * shrink;
      let best = Infinity;
      rows.forEach((spots, r) => spots.forEach((spot, c) => {
        const far = (spot.x - x) ** 2 + (spot.y - y) ** 2;
        if (far < best) [best, row, column] = [far, r, c];
      }));
      if (best < Infinity) show();
    });
    plot.addEventListener("pointerleave", hide);
    plot.addEventListener("blur", hide);
    plot.addEventListener("keydown", (event) => {
      const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
      if (event.key === "Escape") return hide();
      if (!(event.key in moves) || !rows.length) return undefined;
      event.preventDefault();
      const [down, right] = moves[event.key];
      row = (row + down + rows.length) % rows.length;
      column = Math.max(0, Math.min(rows[row].length - 1, column + right));
      if (rows[row].length) show();
      return undefined;
    });
  }

  /* Kinds of sections ----------------------------------------------------------------------------------------- */

  function chart(section, holder) {
    const off = hidden.get(section.id) || hidden.set(section.id, new Set()).get(section.id);
    const figure = node("figure");
    holder.append(figure);
    const { plot, box } = canvas(figure, Math.round(Math.max(240, Math.min(360, figure.clientWidth * 0.6))), 52);
    plot.setAttribute("aria-label", `${section.title}. Arrow keys move from point to point.`);
    const curves = section.curves.map((curve, number) => ({ ...curve, number })).filter((curve) => !off.has(curve.name));
    const points = curves.flatMap((curve) => curve.points);
    const across = scale(section.x, points.map(([x]) => x), box.left, box.right);
    const up = scale(section.y, points.map(([, y]) => y), box.bottom, box.top);
    frame(plot, box, across, up, section.x.label, section.y.label);
    const rows = [];
    for (const curve of curves) {
      const look = curve.look ?? curve.number;
      const usable = curve.points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y) && (!section.x.log || x > 0) && (!section.y.log || y > 0));
      const spots = usable.map(([x, y]) => ({
        x: across.place(x), y: up.place(y),
        text: `${curve.name}\n${section.x.label}: ${formatted(x)}\n${section.y.label}: ${formatted(y)}`,
      }));
      const group = node("svg:g", { "data-curve": curve.name });
      group.append(node("svg:polyline", {
        class: "curve", stroke: color(look), "stroke-dasharray": curve.dashed ? "3 4" : DASHES[Math.floor(look / 8) % 8],
        points: spots.map((spot) => `${spot.x.toFixed(1)},${spot.y.toFixed(1)}`).join(" "),
      }));
      if (spots.length <= 60 && !curve.dashed)
        for (const spot of spots) group.append(mark(markOf(look), spot.x, spot.y, 3, { class: "mark", fill: color(look) }));
      plot.append(group);
      if (spots.length) rows.push(spots);
    }
    figure.append(plot);
    addTooltip(figure, plot, rows);
    const legend = node("ul", { class: "legend" });
    section.curves.forEach((curve, number) => {
      const look = curve.look ?? number;
      const picture = node("svg:svg", { viewBox: "0 0 30 12", "aria-hidden": "true" });
      picture.append(node("svg:line", { x1: 1, x2: 29, y1: 6, y2: 6, stroke: color(look), "stroke-width": 2, "stroke-dasharray": curve.dashed ? "3 4" : DASHES[Math.floor(look / 8) % 8] }));
      if (!curve.dashed) picture.append(mark(markOf(look), 15, 6, 3, { fill: color(look) }));
      const press = () => {
        if (off.has(curve.name)) off.delete(curve.name); else off.add(curve.name);
        const place = holder.parentElement; // draw() removes the holder from its parent.
        draw(section, place, true);
        place.querySelectorAll(".legend button")[number].focus();
      };
      legend.append(node("li", {}, node("button", { type: "button", "aria-pressed": String(!off.has(curve.name)), onclick: press }, picture, curve.name)));
    });
    holder.append(legend);
    const rowsOf = section.curves.flatMap((curve) => curve.points.map(([x, y]) => [curve.name, x, y]));
    holder.append(folded("Show as a table", () => table(["curve", section.x.label, section.y.label], rowsOf)));
  }

  function bars(section, holder) {
    const figure = node("figure");
    holder.append(figure);
    const { plot, box } = canvas(figure, 260, 52);
    plot.setAttribute("aria-label", `${section.title}. Arrow keys move from bar to bar.`);
    const groups = section.series.length, places = section.labels.length;
    const up = scale(section.y, section.series.flatMap((series) => series.values), box.bottom, box.top);
    frame(plot, box, null, up, section.x.label, section.y.label);
    const each = (box.right - box.left) / Math.max(1, places), rows = [];
    let last = -Infinity;
    section.labels.forEach((label, place) => {
      const middle = box.left + (place + 0.5) * each, half = String(label).length * 3.6;
      if (middle - half < last + 6 || middle + half > box.right + 12) return; // No room for the label.
      last = middle + half;
      plot.append(node("svg:text", { x: middle, y: box.bottom + 20, "text-anchor": "middle" }, String(label)));
    });
    section.series.forEach((series, number) => {
      const width = Math.max(1, (each * 0.8) / groups), spots = [];
      series.values.forEach((value, place) => {
        const x = box.left + place * each + each * 0.1 + number * width;
        const y = section.y.log && value <= 0 ? box.bottom : up.place(value);
        plot.append(node("svg:rect", { x, y, width: Math.max(1, width - 1), height: Math.max(0, box.bottom - y), fill: color(number), "data-bar": series.name }));
        spots.push({ x: x + width / 2, y, text: `${series.name ? `${series.name}\n` : ""}${section.x.label}: ${section.labels[place]}\n${section.y.label}: ${formatted(value)}` });
      });
      if (spots.length) rows.push(spots);
    });
    figure.append(plot);
    addTooltip(figure, plot, rows);
    if (groups > 1) holder.append(keys(section.series.map((series, number) => [series.name, number])));
    const body = section.labels.map((label, place) => [label, ...section.series.map((series) => series.values[place])]);
    const heads = section.series.map((series) => series.name || section.y.label);
    holder.append(folded("Show as a table", () => table([section.x.label, ...heads], body)));
  }

  function timeline(section, holder) {
    const figure = node("figure");
    holder.append(figure);
    const lane = 22, height = 54 + lane * section.lanes.length;
    const { plot, box } = canvas(figure, height, 72, 8);
    plot.setAttribute("aria-label", `${section.title}. Arrow keys move from activity to activity.`);
    const ends = section.lanes.flatMap((each) => each.parts.map((part) => part.start + part.length));
    const across = scale({ label: "" }, [0, ...ends], box.left, box.right);
    frame(plot, box, across, null, section.x.label, "");
    const rows = [];
    section.lanes.forEach((each, number) => {
      const y = box.top + number * lane, spots = [];
      plot.append(node("svg:text", { x: box.left - 6, y: y + 14, "text-anchor": "end" }, each.name));
      for (const part of each.parts) {
        const x = across.place(part.start), width = across.place(part.start + part.length) - x;
        plot.append(node("svg:rect", { x, y: y + 2, width: Math.max(width, 0.3), height: lane - 6, fill: color(section.looks[part.kind]) }));
        spots.push({ x: x + width / 2, y: y + lane / 2 - 1, text: part.text });
      }
      if (spots.length) rows.push(spots);
    });
    figure.append(plot);
    addTooltip(figure, plot, rows);
    holder.append(keys(section.kinds.map((kind, number) => [kind, section.looks[number]])));
    holder.append(folded("Show as a table", () => table(section.head, section.rows)));
  }

  function keys(names) {
    const legend = node("ul", { class: "legend" });
    for (const [name, look] of names) legend.append(node("li", {}, node("span", { class: "key", style: `background: ${color(look)}` }), ` ${name}`));
    return legend;
  }

  function table(head, rows) {
    const isNumber = head.map((_, column) => rows.length > 0 && rows.every((row) => typeof row[column] === "number" || row[column] === "" || row[column] === null));
    const cell = (kind, value, column, attributes = {}) => node(kind, { class: isNumber[column] ? "number" : isLong(value) ? "long" : null, ...attributes }, value === null ? "" : formatted(value));
    const made = node("table", {}, node("thead", {}, node("tr", {}, ...head.map((value, column) => cell("th", value, column, { scope: "col" })))));
    const body = node("tbody");
    for (const row of rows.slice(0, 2000)) body.append(node("tr", {}, ...row.map((value, column) => (column ? cell("td", value, column) : cell("th", value, column, { scope: "row" })))));
    made.append(body);
    return node("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": head.join(", ") }, made);
  }

  // Only words longer than 24 characters may be broken. Unbroken, they would make the table scroll.
  const isLong = (value) => typeof value === "string" && value.split(/\s+/).some((word) => word.length > 24);

  function facts(rows) {
    const list = node("dl", { class: "facts" });
    for (const [name, value] of rows) list.append(node("div", {}, node("dt", {}, name), node("dd", { class: isLong(value) ? "long" : null }, value === null ? "" : formatted(value))));
    return list;
  }

  function folded(title, make) {
    const box = node("details", {}, node("summary", {}, title));
    box.addEventListener("toggle", () => { if (box.open && box.children.length === 1) box.append(make()); });
    return box;
  }

  function gallery(section, holder) {
    const list = node("ul", { class: "gallery" });
    for (const item of section.items) {
      const picture = node("img", { src: item.image, alt: item.alt });
      list.append(node("li", {}, picture, ...item.lines.map((line) => node("span", {}, line))));
    }
    holder.append(list);
  }

  function claims(section, holder) {
    const list = node("ul", { class: "claims" });
    const words = { yes: "holds here", no: "differs here", open: "not decided here" };
    for (const claim of section.claims)
      list.append(node("li", { class: claim.verdict }, node("strong", {}, claim.claim), `${words[claim.verdict]}: ${claim.measured}`));
    holder.append(list);
  }

  const KINDS = {
    chart, bars, timeline, gallery, claims,
    table: (section, holder) => holder.append(section.wide && section.head.length === 2 ? facts(section.rows) : table(section.head, section.rows)),
    text: (section, holder) => { for (const line of section.lines) holder.append(node("p", {}, line)); },
    listing: (section, holder) => holder.append(folded("Show", () => node("pre", {}, section.text))),
  };

  function draw(section, place, again = false) {
    const opened = [...place.querySelectorAll("details")].map((details) => details.open);
    place.replaceChildren();
    place.append(node("h2", {}, section.title));
    if (section.note) place.append(node("p", { class: "note" }, section.note));
    const holder = node("div");
    place.append(holder);
    KINDS[section.kind](section, holder);
    if (again) place.querySelectorAll("details").forEach((details, number) => { details.open = opened[number] || false; });
  }

  // Sections that take the full width: wide ones, and one that would have an empty place beside it.
  function fullWidth(sections) {
    let column = 0;
    return sections.map((section, number) => {
      const next = sections[number + 1], alone = column === 0 && (!next || next.wide);
      column = section.wide || alone ? 0 : 1 - column;
      return section.wide || alone;
    });
  }

  function render(page) {
    const main = document.getElementById("page"), known = new Set();
    document.getElementById("status").textContent = page.status || "";
    const wide = fullWidth(page.sections);
    page.sections.forEach((section, number) => {
      known.add(section.id);
      let place = document.getElementById(section.id);
      if (!place) {
        place = node("section", { id: section.id });
        main.insertBefore(place, main.querySelectorAll("section")[number] || null);
      }
      place.classList.toggle("wide", wide[number]);
      const text = JSON.stringify([section, wide[number]]);
      // A section under the pointer or with the focus is drawn again only after the reader has left it.
      const busy = shown.has(section.id) && (place.matches(":hover") || place.contains(document.activeElement));
      if (shown.get(section.id) === text || busy) return;
      draw(section, place, shown.has(section.id));
      shown.set(section.id, text);
    });
    for (const place of [...main.querySelectorAll("section")])
      if (!known.has(place.id)) { place.remove(); shown.delete(place.id); }
    const titles = JSON.stringify(page.sections.map((section) => [section.id, section.title]));
    if (titles !== listed) {
      const list = node("ul", {}, ...page.sections.map((section) => node("li", {}, node("a", { href: `#${section.id}` }, section.title))));
      document.getElementById("contents").replaceChildren(list);
      listed = titles;
    }
    latest = page;
  }

  let latest = null, listed = "", width = 0;
  addEventListener("resize", () => {
    if (!latest || innerWidth === width) return;
    width = innerWidth;
    for (const section of latest.sections) draw(section, document.getElementById(section.id), true);
  });

  async function follow() {
    for (;;) {
      await new Promise((done) => { setTimeout(done, 1000); });
      try {
        const answer = await fetch("page.json", { cache: "no-store" });
        if (answer.ok) render(await answer.json());
        else document.getElementById("status").textContent = "The run file cannot be read at the moment.";
      } catch {
        document.getElementById("status").textContent = "paraactive watch has ended. This page shows the last state of the run.";
      }
    }
  }

  width = innerWidth;
  render(JSON.parse(document.getElementById("data").textContent));
  if (latest.live) follow();
})();
