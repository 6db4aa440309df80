"""What can be measured of a page that a browser shows: broken words, texts over each other, holes, cut-off code."""

from __future__ import annotations

from typing import Any

_BROKEN_WORDS = """
const found = [], walker = document.createTreeWalker(document.querySelector(arguments[0]), NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const parent = node.parentElement;
  if (!parent.checkVisibility() || parent.closest("script, style, pre, .long, .skip")) continue;
  for (const word of node.data.matchAll(/[^\\s\\-\\u2010\\u2011/]{2,24}/g)) {
    const range = document.createRange();
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    if (new Set([...range.getClientRects()].map((each) => Math.round(each.top))).size > 1) found.push(word[0]);
  }
}
return found;
"""

_OVERLAPPING_TEXTS = """
const found = [];
for (const plot of document.querySelectorAll("svg.plot")) {
  const texts = [...plot.querySelectorAll("text")].map((each) => [each.textContent, each.getBoundingClientRect()]);
  const edge = plot.getBoundingClientRect();
  texts.forEach(([one, a], place) => {
    if (a.left < edge.left - 1 || a.right > edge.right + 1) found.push(`${one} is over the edge`);
    for (const [other, b] of texts.slice(place + 1))
      if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
        found.push(`${one} / ${other}`);
  });
}
return found;
"""

_HOLES = """
const boxes = [...document.querySelectorAll("#page > section")].map((each) => [each.id, each.getBoundingClientRect()]);
const page = document.getElementById("page").getBoundingClientRect();
return boxes.filter(([, box]) => {
  const row = boxes.filter(([, other]) => Math.abs(other.top - box.top) < 1).map(([, other]) => other);
  const left = Math.min(...row.map((each) => each.left)), right = Math.max(...row.map((each) => each.right));
  const filled = left - page.left < 1 && page.right - right < 1;
  return !filled || row.some((other) => Math.abs(other.bottom - box.bottom) > 1);
}).map(([id]) => id);
"""

_CUT_OFF = """
const scrolls = (node) => ["auto", "scroll"].includes(getComputedStyle(node).overflowX);
const found = [];
for (const code of document.querySelectorAll("pre, pre > code, table")) {
  if (!code.checkVisibility()) continue;
  if (code.scrollWidth > code.clientWidth + 1 && !scrolls(code) && code.tagName !== "TABLE")
    found.push(code.textContent.slice(0, 60));
  let holder = code.parentElement;
  while (holder && !scrolls(holder)) holder = holder.parentElement;
  const room = document.documentElement.clientWidth;
  if (!holder && code.getBoundingClientRect().right > room + 1) found.push(code.textContent.slice(0, 60));
}
return found;
"""


def broken_words(browser: Any, inside: str = "body") -> list[str]:
    """Words of at most 24 letters that are on two lines, hyphens apart."""
    return browser.execute_script(_BROKEN_WORDS, inside)


def overlapping_texts(browser: Any) -> list[str]:
    """Texts of charts that lie over each other, or over the edge of their chart."""
    return browser.execute_script(_OVERLAPPING_TEXTS)


def holes(browser: Any) -> list[str]:
    """Sections that leave an empty place beside or under them."""
    return browser.execute_script(_HOLES)


def cut_off(browser: Any) -> list[str]:
    """The beginnings of code and tables whose ends cannot be seen, not even by scrolling."""
    return browser.execute_script(_CUT_OFF)
