"""Line charts as SVG, drawn with nothing but text: they need no library, and look the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from html import escape

COLOURS = ("#000000", "#0072B2", "#009E73", "#D55E00", "#CC79A7", "#E69F00")
"""Told apart by colour-blind people too."""
_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _LEGEND = 528, 302, 66, 46, 52, 196
"""Of the lines' own field; around it axes, titles and, on the right, names."""


@dataclass(frozen=True)
class Curve:
    """Points (x, y) joined by a line."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: int = 0
    """Its place among COLOURS."""
    dashed: bool = False
    """Dashed and without marks, as a bound is drawn."""


@dataclass(frozen=True)
class Chart:
    """Curves on logarithmic axes. What is not above 0 cannot be shown, and is left out."""

    title: str
    x: str
    y: str
    curves: Sequence[Curve]
    y_steps: Sequence[float] = field(default=(1, 2, 5))
    """Where ticks of the y axis are, within each power of ten."""

    def shown(self, curve: Curve) -> list[tuple[float, float]]:
        """The points of a curve that can be."""
        return [(x, y) for x, y in curve.points if x > 0 and 0 < y < math.inf]


def draw(charts: Sequence[Chart]) -> str:
    """The charts side by side, with the names of the curves of each beside it."""
    width, height = _LEFT + _WIDTH + _LEGEND, _TOP + _HEIGHT + _BOTTOM
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width * len(charts)} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{width * len(charts)}" height="{height}" fill="white"/>',
    ]
    for number, chart in enumerate(charts):
        out.append(f'<g transform="translate({width * number} 0)">')
        out += _drawn(chart)
        out.append("</g>")
    return "\n".join([*out, "</svg>"]) + "\n"


def _drawn(chart: Chart) -> list[str]:
    points = [point for curve in chart.curves for point in chart.shown(curve)]
    low, high = min(x for x, _ in points) * 0.8, max(x for x, _ in points) * 1.2
    few, many = min(y for _, y in points) * 0.85, max(y for _, y in points) * 1.1
    right, bottom = _LEFT + _WIDTH, _TOP + _HEIGHT
    across, up = _scale(low, high, _LEFT, right), _scale(few, many, bottom, _TOP)
    out = [f'<text x="{_LEFT}" y="24" font-size="15">{escape(chart.title)}</text>']
    for tick in _ticks(low, high, (1, 2, 5) if high / low < 1000 else (1,)):
        out.append(f'<path d="M{across(tick):.1f} {_TOP}V{bottom}" stroke="#ddd"/>')
        out.append(f'<text x="{across(tick):.1f}" y="{bottom + 18}" text-anchor="middle">{_said(tick)}</text>')
    for tick in _ticks(few, many, chart.y_steps if many / few < 1000 else (1,)):
        out.append(f'<path d="M{_LEFT} {up(tick):.1f}H{right}" stroke="#ddd"/>')
        out.append(f'<text x="{_LEFT - 8}" y="{up(tick) + 4:.1f}" text-anchor="end">{_said(tick)}</text>')
    out.append(f'<text x="{_LEFT + _WIDTH / 2}" y="{bottom + 40}" text-anchor="middle">{escape(chart.x)}</text>')
    middle = _TOP + _HEIGHT / 2
    out.append(
        f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">{escape(chart.y)}</text>'
    )
    for number, curve in enumerate(chart.curves):
        out += _line(curve, [(across(x), up(y)) for x, y in chart.shown(curve)], _TOP + 16 + 22 * number)
    return out


def _line(curve: Curve, places: list[tuple[float, float]], level: float) -> list[str]:
    colour = COLOURS[curve.colour % len(COLOURS)]
    stroke = f'stroke="{colour}" stroke-width="2"' + (' stroke-dasharray="6 4"' if curve.dashed else "")
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    start = _LEFT + _WIDTH + 14
    return [
        f'<polyline points="{path}" fill="none" {stroke}/>',
        *([] if curve.dashed else [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places]),
        f'<path d="M{start} {level}h24" {stroke}/>',
        f'<text x="{start + 32}" y="{level + 4}">{escape(curve.name)}</text>',
    ]


def _scale(low: float, high: float, start: float, stop: float) -> Callable[[float], float]:
    """A logarithmic axis."""
    return lambda value: start + (math.log(value) - math.log(low)) / (math.log(high) - math.log(low)) * (stop - start)


def _ticks(low: float, high: float, steps: Sequence[float]) -> list[float]:
    """Round numbers between the two."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**power for power in powers for step in steps if low <= step * 10.0**power <= high]


def _said(tick: float) -> str:
    return f"{tick:,.0f}".replace(",", " ") if tick >= 1 else f"{tick:g}"
