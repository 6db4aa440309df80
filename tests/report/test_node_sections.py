"""The sections about nodes: times and events."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from paraactive.report import TableSection, page_of, read_run_record
from paraactive.report.sections import Timeline
from report.conftest import Recorded, sections_of


def test_each_node_has_a_lane_and_its_times_add_up(digits: Recorded) -> None:
    timeline: Timeline = sections_of(digits)["timeline-0"]
    assert [lane.name for lane in timeline.lanes] == ["node 0", "node 1"]
    sifting = sum(row[1 + timeline.kinds.index("sift")] for row in timeline.rows)  # pyright: ignore[reportCallIssue, reportArgumentType]
    assert sifting == pytest.approx(digits.run.sift_seconds)
    for lane in timeline.lanes:
        ends = [(part.start, part.start + part.length) for part in lane.parts]
        assert all(before[1] <= after[0] + 1e-9 for before, after in pairwise(ends))


def test_events_about_nodes_are_listed_in_words(digits: Recorded) -> None:
    lost = {"node": 1, "why": "it was killed"}
    record = replace(read_run_record(digits.path), node_events=[("NodeLost", lost), ("ReplicaRebuilt", {"node": 0})])
    (table,) = [section for section in page_of([record]).sections if section.id == "node-events"]
    assert isinstance(table, TableSection)
    assert table.rows == [["digits", "node lost", "node 1, it was killed"], ["digits", "replica rebuilt", "node 0"]]
