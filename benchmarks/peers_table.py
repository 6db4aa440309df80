"""The tables of `bench_peers`: data set by method, and where nobody is both faster and more accurate than ours."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from benchmarks.measuring import table
from benchmarks.peers import METHODS, OURS


def _figure(found: Any, kind: str, threads: int = 1) -> dict[str, Any]:
    figure = found.get(kind, {}).get(str(threads), {})
    return figure if "error" in figure else {}


def points(found: Mapping[str, Any], name: str) -> list[tuple[float, float]]:
    """Seconds and error of a method: its defaults, and its best setting, whose seconds include the tuning."""
    ways = found.get(name, {})
    given = [(figure["fit"], figure["error"]) for figure in [_figure(ways, "default")] if figure]
    tuned = _figure(ways, "tuned")
    if tuned:
        given.append((ways["tuning"]["seconds"] + tuned["fit"], tuned["error"]))
    return given


def better(found: Mapping[str, Any]) -> list[tuple[str, float, float]]:
    """Who is both faster and more accurate than our default estimator, with seconds and error."""
    ours = points(found, OURS)
    if not ours:
        return [(name, *point) for name in found if name != OURS for point in points(found, name)]
    spent, error = ours[0]
    return [
        (name, *point)
        for name in found
        if name != OURS
        for point in points(found, name)
        if point[0] < spent and point[1] < error
    ]


def tried_rows(about: Mapping[str, Any]) -> int:
    """Test rows of all divisions."""
    return about["test"] * about["seeds"]


def _times(about: Mapping[str, Any]) -> str:
    return f", mean of {about['seeds']} divisions" if about["seeds"] > 1 else ""


def noise(error: float, test: int) -> float:
    """Standard error of the difference of two errors that are counted on the same test rows, at most."""
    return math.sqrt(2 * max(error, 1e-4) * (1 - error) / test)


def beyond_noise(found: Mapping[str, Any], test: int) -> list[tuple[str, float, float]]:
    """Those of `better` whose error is smaller by more than twice the noise."""
    ours = points(found, OURS)
    limit = ours[0][1] if ours else 1.0
    return [each for each in better(found) if each[2] < limit - 2 * noise(limit, test)]


def _cell(found: Mapping[str, Any], name: str, field: str, digits: int, threads: int = 1) -> str:
    ways = found.get(name, {})
    first, tuned = _figure(ways, "default", threads), _figure(ways, "tuned", threads)
    if not first:
        return ""
    text = f"{first[field]:.{digits}f}"
    return text + (f" / {tuned[field]:.{digits}f}" if tuned else "")


def _errors(ways: Mapping[str, Any]) -> str:
    first, tuned = _figure(ways, "default"), _figure(ways, "tuned")
    if not first:
        return ways.get("why", "")
    return f"{100 * first['error']:.2f}" + (f" / {100 * tuned['error']:.2f}" if tuned else "")


def _section(name: str, about: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    rows: list[list[str]] = []
    for way in METHODS:
        if way.name not in found:
            continue
        ways = found[way.name]
        tuning = ways.get("tuning", {})
        tuned = _figure(ways, "tuned")
        rows.append([
            f"**{way.name}**" if way.ours else way.name, _errors(ways), _cell(found, way.name, "fit", 2),
            "" if way.one_thread else _cell(found, way.name, "fit", 2, 2),
            _cell(found, way.name, "predict", 3), "" if way.one_thread else _cell(found, way.name, "predict", 3, 2),
            _cell(found, way.name, "memory", 0),
            f"{tuning['seconds']:.1f}" if len(tuning.get("errors", [])) == len(way.settings) else "",
            described(way.settings[tuned["setting"]]) if tuned else "",
        ])  # fmt: skip
    header = [
        "method", "error, %", "fit, s", "fit, 2 threads", "predict, s", "predict, 2 threads", "memory, MB",
        "tuning, s", "best setting",
    ]  # fmt: skip
    title = (
        f"**{name}** ({about['note']}): {about['rows']:,} rows of {about['columns']}, {about['classes']} classes, "
        f"{about['test']:,} test rows{_times(about)}. {_verdict(found, tried_rows(about))}"
    )
    return f"{title}\n\n{table(header, rows)}"


def described(settings: Mapping[str, Any]) -> str:
    """Settings, to be read."""
    return ", ".join(f"{name} {value}" for name, value in settings.items())


def _verdict(found: Mapping[str, Any], test: int) -> str:
    if not points(found, OURS):
        return "Ours has no figure."
    ahead = better(found)
    if not ahead:
        return "No other program is both faster and more accurate than our default."
    names = ", ".join(f"{name} ({100 * error:.2f}% in {spent:.2f} s)" for name, spent, error in ahead)
    within = "" if beyond_noise(found, test) else " The difference of the errors is within twice the noise."
    return f"Faster and more accurate than our default: {names}.{within}"


def _overview(figures: Mapping[str, Any]) -> str:
    rows: list[list[str]] = []
    for name, about in figures["sets"].items():
        found = figures["found"][name]
        ours, ahead = points(found, OURS), better(found)
        best = min(((*point, other) for other in found if other != OURS for point in points(found, other)),
                   key=lambda each: each[1], default=None)  # fmt: skip
        rows.append([
            name, f"{about['rows']:,}", f"{100 * ours[0][1]:.2f}" if ours else "not finished",
            f"{ours[0][0]:.2f}" if ours else "",
            f"{100 * best[1]:.2f} in {best[0]:.2f} s: {best[2]}" if best else "",
            "; ".join(sorted({each[0] for each in ahead})) or "none",
        ])  # fmt: skip
    header = ["data set", "rows", "ours, error %", "fit, s", "the most accurate other", "faster and more accurate"]
    return table(header, rows)


def render(figures: Mapping[str, Any]) -> str:
    """An overview, and a table for each data set."""
    sets, found = figures["sets"], figures["found"]
    ahead = [name for name in sets if not better(found[name]) and points(found[name], OURS)]
    sure = [
        name for name in sets if not beyond_noise(found[name], tried_rows(sets[name])) and points(found[name], OURS)
    ]
    notes = [
        _overview(figures),
        f"On {len(ahead)} of {len(sets)} data sets no other program is both faster and more accurate than our default "
        f"estimator, and on {len(sure)} if a difference of at most twice the noise of the test rows counts as none. "
        "Ours is `ParaActiveClassifier()`, which chooses C and gamma by itself from 10,000 rows on, within the "
        "seconds of its fit. The seconds of a tuned peer include its tuning here.",
        "In the tables, a second figure after a slash is that of the best of four settings, chosen on a part of at "
        f"most {figures['tuning_rows']:,} rows; its seconds do not include the tuning, which has its own column. No "
        "second figure on one thread: the default was the best of the four. On two threads, only the defaults are "
        f"measured. A limit of {figures['limit']:.0f} s for each fit; each fit once. Memory is what a fit and "
        "predicting took at most, beyond the data and the imports.",
    ]  # fmt: skip
    missing = [name for name in figures.get("all_sets", sets) if name not in sets and name not in figures["left_out"]]
    if missing:
        notes.append(f"Not measured yet: {', '.join(missing)}.")
    notes += [f"{name} is left out: {why}." for name, why in figures["left_out"].items()]
    notes += [f"{name} is not installed." for name in figures["not_installed"]]
    return "\n\n".join([*notes, *(_section(name, sets[name], found[name]) for name in sets)])
