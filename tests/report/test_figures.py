"""Figures: what is in a chart is in its files."""

from __future__ import annotations

import math
import os
from pathlib import Path
from xml.etree import ElementTree

import pytest

from full_disk import little_room
from paraactive.errors import InputError
from paraactive.report import Axis, Chart, Curve
from paraactive.report.figures import COLORS, mark_of, save_figure, save_figures

CHART = Chart(
    "two", "Two $curves$ & <more>", Axis("x", log=True), Axis("y", log=True),
    [
        Curve("one", [(1, 5), (10, 50), (1e5, 0.01)]),
        Curve("bound", [(0, 1), (1, 0), (1, math.inf), (2, 3)], dashed=True),
    ],
)  # fmt: skip


def test_a_chart_becomes_a_png_and_an_svg(tmp_path: Path) -> None:
    png, svg = save_figures([CHART], tmp_path)
    assert (png.name, svg.name) == ("two.png", "two.svg")
    assert png.read_bytes().startswith(b"\x89PNG")
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")


def test_the_same_chart_makes_the_same_bytes(tmp_path: Path) -> None:
    files = [save_figure([CHART], tmp_path / name) for name in ("a", "b")]
    for one, other in zip(*files, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_charts_stand_side_by_side(tmp_path: Path) -> None:
    widths = [
        float(ElementTree.parse(save_figure([CHART] * count, tmp_path / str(count))[1]).getroot().attrib["width"][:-2])
        for count in (1, 2)
    ]
    assert widths[1] == 2 * widths[0]


def test_a_place_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot write"):
        save_figure([CHART], tmp_path / "file" / "figure")


def test_a_full_disk_leaves_the_old_figures_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "two.png").write_text("the old figure")
    with little_room(), pytest.raises(InputError, match=r"cannot write .*two\.png"):
        save_figures([CHART], tmp_path)
    assert (tmp_path / "two.png").read_text() == "the old figure"
    assert os.listdir(tmp_path) == ["two.png"]


def test_no_two_curves_have_the_same_color_and_the_same_mark() -> None:
    looks = [(COLORS[look % len(COLORS)], mark_of(look)) for look in range(32)]
    assert len(set(looks)) == 32
