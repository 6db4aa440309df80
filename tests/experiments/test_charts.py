from __future__ import annotations

import math
from xml.etree import ElementTree

from paraactive.experiments.charts import Chart, Curve, draw

SVG = "{http://www.w3.org/2000/svg}"


def _parsed(*charts: Chart) -> ElementTree.Element:
    return ElementTree.fromstring(draw(charts))


def test_every_point_that_can_be_shown_is_inside_the_picture() -> None:
    tree = _parsed(Chart("a", "x", "y", [Curve("one", [(1, 5), (10, 50), (1e5, 0.01)])]))
    width, height = (float(word) for word in tree.attrib["viewBox"].split()[2:])
    (line,) = tree.iter(f"{SVG}polyline")
    places = [tuple(map(float, place.split(","))) for place in line.attrib["points"].split()]
    assert len(places) == 3
    assert all(0 < x < width and 0 < y < height for x, y in places)
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    assert places[1][1] < places[0][1] < places[2][1]  # Larger is higher up.


def test_what_a_logarithm_does_not_have_is_left_out() -> None:
    tree = _parsed(Chart("a", "x", "y", [Curve("one", [(0, 1), (1, 0), (1, math.inf), (1, 1), (2, 3)])]))
    assert len(list(tree.iter(f"{SVG}circle"))) == 2


def test_words_are_text_whatever_they_contain() -> None:
    name = "<script>&"
    tree = _parsed(Chart(name, name, name, [Curve(name, [(1, 1), (2, 2)])]))
    assert [text.text for text in tree.iter(f"{SVG}text")].count(name) == 4


def test_a_bound_is_dashed_and_has_no_marks() -> None:
    tree = _parsed(Chart("a", "x", "y", [Curve("bound", [(1, 1), (2, 2)], dashed=True)]))
    assert not list(tree.iter(f"{SVG}circle"))
    (line,) = tree.iter(f"{SVG}polyline")
    assert "stroke-dasharray" in line.attrib


def test_charts_stand_side_by_side() -> None:
    chart = Chart("a", "x", "y", [Curve("one", [(1, 1), (2, 2)])])
    one, two = (float(_parsed(*[chart] * count).attrib["viewBox"].split()[2]) for count in (1, 2))
    assert two == 2 * one
