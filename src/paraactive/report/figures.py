"""Charts as PNG and SVG files, drawn by matplotlib (extra `report`). Pages draw the same charts in the browser."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from paraactive.basics.atomic_files import atomic_write
from paraactive.basics.optional import require
from paraactive.errors import cannot_write
from paraactive.report.charts import Axis, Chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as DrawnAxis

# The colors of Okabe and Ito, as on the pages. People with color vision deficiencies can distinguish them.
COLORS = ("#0072b2", "#c44e00", "#007f5f", "#a8477f", "#8a6a00", "#2a8fc7", "#444b52", "#7a4fb5")
_MARKS = ("o", "s", "D", "^")
_DASHES = ("-", (0, (5, 2)), (0, (1, 1)), (0, (6, 2, 1, 2)))
_INCHES = (6.2, 4.0)
# The legend is under the chart: number of columns, and height of one line in inches.
_LEGEND_COLUMNS, _LEGEND_INCHES = 2, 0.18


def save_figures(charts: Sequence[Chart], folder: Path) -> list[Path]:
    """Save each chart as ID.png and ID.svg, where ID is the identifier of the chart.

    Parameters
    ----------
    charts : sequence of Chart
        The charts.
    folder : Path
        Folder of the files. It is created if it does not exist.

    Returns
    -------
    list of Path
        The files.

    Raises
    ------
    InputError
        If a file cannot be written.
    MissingExtraError
        If matplotlib is not installed.
    """
    return [path for chart in charts for path in save_figure([chart], folder / chart.id)]


def save_figure(charts: Sequence[Chart], path: Path) -> list[Path]:
    """Save charts side by side as one figure. Equal charts give equal bytes.

    Parameters
    ----------
    charts : sequence of Chart
        The charts, from left to right.
    path : Path
        Name of the files without their suffixes .png and .svg.

    Returns
    -------
    list of Path
        The PNG file and the SVG file.

    Raises
    ------
    InputError
        If a file cannot be written.
    MissingExtraError
        If matplotlib is not installed.
    """
    matplotlib = require("matplotlib", "report", "drawing figures")
    figures = require("matplotlib.figure", "report", "drawing figures")
    settings = {"svg.hashsalt": "paraactive", "svg.fonttype": "path", "font.size": 10}
    files = [path.with_name(f"{path.name}.{kind}") for kind in ("png", "svg")]
    with matplotlib.rc_context(settings):
        legend = max(-(-len(chart.curves) // _LEGEND_COLUMNS) for chart in charts) * _LEGEND_INCHES
        figure = figures.Figure(figsize=(_INCHES[0] * len(charts), _INCHES[1] + legend), layout="constrained")
        for place, chart in enumerate(charts, 1):
            _draw(figure.add_subplot(1, len(charts), place), chart)
        for file in files:
            _make_folder(file.parent)
            kind = file.suffix[1:]
            with atomic_write(file) as opened:
                figure.savefig(opened, format=kind, dpi=144, metadata={"Date": None} if kind == "svg" else None)
    return files


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error


def mark_of(look: int) -> str:
    """Return the mark of a curve. From the ninth curve on, colors repeat with another mark.

    Parameters
    ----------
    look : int
        Number of the look of the curve.

    Returns
    -------
    str
        The mark, in the notation of matplotlib.

    Examples
    --------
    >>> mark_of(0), mark_of(8)
    ('o', 's')
    """
    return _MARKS[(look + look // len(COLORS)) % len(_MARKS)]


def _draw(axes: Axes, chart: Chart) -> None:
    drawn: list[tuple[float, float]] = []
    for number, curve in enumerate(chart.curves):
        look = number if curve.look is None else curve.look
        points = [point for point in curve.points if _fits(point, chart)]
        drawn += points
        axes.plot(
            [x for x, _ in points], [y for _, y in points], label=_plain(curve.name), linewidth=1.6, markersize=4,
            color=COLORS[look % len(COLORS)],
            linestyle=":" if curve.dashed else _DASHES[look // len(COLORS) % len(_DASHES)],
            marker=None if curve.dashed or len(points) > 60 else mark_of(look),
        )  # fmt: skip
    axes.set_title(_plain(chart.title), loc="left", fontsize=11)
    _label(axes.xaxis, axes.set_xscale, chart.x, [x for x, _ in drawn], most=500.0)
    _label(axes.yaxis, axes.set_yscale, chart.y, [y for _, y in drawn], most=3000.0)
    axes.grid(True, color="#d9dde1", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if len(chart.curves) > 1:
        # The legend is below the axes. Inside the axes it would cover the curves.
        axes.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=_LEGEND_COLUMNS)


def _fits(point: tuple[float, float], chart: Chart) -> bool:
    """Return whether a point is finite, and positive on each logarithmic axis."""
    x, y = point
    return (x > 0 or not chart.x.log) and (y > 0 or not chart.y.log) and abs(x) + abs(y) < float("inf")


def _label(drawn_axis: DrawnAxis, scale: Callable[[str], None], axis: Axis, drawn: list[float], most: float) -> None:
    """Set title, scale and ticks. Above a ratio of `most`, a logarithmic axis has room only for powers of ten."""
    tickers = require("matplotlib.ticker", "report", "drawing figures")
    drawn_axis.set_label_text(_plain(axis.label))
    if axis.log and drawn:  # Without points the logarithmic scale has no range.
        scale("log")
        drawn_axis.set_major_locator(tickers.LogLocator(subs=_steps(max(drawn) / min(drawn), most)))
        drawn_axis.set_major_formatter(tickers.FuncFormatter(_tick))
        drawn_axis.set_minor_formatter(tickers.NullFormatter())


def _steps(ratio: float, most: float) -> tuple[float, ...]:
    if ratio > most:
        return (1.0,)
    return (1.0, 2.0, 5.0) if ratio >= 8 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0)


def _tick(value: float, _place: int | None = None) -> str:
    return f"{value:,.10g}".replace(",", "\N{THIN SPACE}")


def _plain(text: str) -> str:
    """Escape dollar signs, which matplotlib would read as mathematics."""
    return text.replace("$", r"\$")
