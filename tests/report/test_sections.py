"""Sections as plain data."""

from __future__ import annotations

import json

from paraactive.report import Axis, Chart, Claim, Claims, Curve, Page, TableSection


def test_the_data_of_a_page_is_json_and_names_the_kind_of_each_section() -> None:
    chart = Chart("time", "Time", Axis("s"), Axis("mistakes", log=True), [Curve("a", [(1, 9)])])
    sections = [chart, TableSection("t", "T", ["a"], [[1]]), Claims("c", "C", [Claim("It holds.", "yes", "2")])]
    data = json.loads(json.dumps(Page("Title", sections, live=True).data()))
    assert [section["kind"] for section in data["sections"]] == ["chart", "table", "claims"]
    assert data["sections"][0]["curves"] == [{"name": "a", "points": [[1, 9]], "look": None, "dashed": False}]
    assert (data["title"], data["status"], data["live"]) == ("Title", "", True)
