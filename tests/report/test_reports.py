"""A report tells what the run file tells, in one file that needs nothing else."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import sqlite3
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from full_disk import little_room
from making import two_moons
from paraactive import Arrays, Digits, LaSVM, Oracle, train
from paraactive.basics.registry import RULES
from paraactive.errors import InputError, RunFileError
from paraactive.report import page_of, read_stories, read_story, write_page, write_report
from paraactive.report.names import rule_name
from paraactive.report.sections import Chart, Gallery, Table, Timeline, thinned
from paraactive.rules import Uniform, floored
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.sifting.parts import describe_rule
from paraactive.streams import Unlabelled
from paraactive.theory import plan
from report.conftest import Recorded
from report.runs import NASTY


def data_in(page: str) -> dict[str, Any]:
    """What a browser would read."""
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    return json.loads(found)


def sections(recorded: Recorded) -> dict[str, Any]:
    page = page_of([read_story(recorded.path)])
    return {section.id: section for section in page.sections}


def test_the_summary_has_the_figures_of_the_run(digits: Recorded) -> None:
    rows = {row[0]: row[1] for row in sections(digits)["summary"].rows}
    figures = digits.run.summary()
    assert rows["examples seen"] == figures["seen"] == 5000
    assert rows["selected"] == figures["selected"]
    assert rows["sampling rate"] == figures["sampling_rate"]
    assert rows["test mistakes"] == figures["mistakes"]
    assert rows["support vectors"] == figures["vectors"]
    assert rows["nodes"] == 2
    assert rows["engine"] == "threads"
    assert rows["learner"] == "SVM, rbf kernel"
    assert rows["rule"] == "signed margin, eta 0.05"
    assert rows["data"] == "digits, {3,1} v {5,7}"
    assert rows["model digest"] == figures["digest"][:16]


@pytest.mark.parametrize("kind", sorted(RULES.names))
def test_every_rule_has_a_name_that_people_know_also_with_a_floor(kind: str) -> None:
    description = describe_rule(RULES.find(kind)())
    plain, with_floor = rule_name(description), rule_name(describe_rule(floored(RULES.find(kind)(), 0.5)))
    assert plain.split(",")[0] in (
        "margin", "signed margin", "least margin", "gradient", "IWAL margin", "uniform", "passive (learn everything)",
    )  # fmt: skip
    assert with_floor.startswith(plain.removesuffix(", p at least 0.01"))
    assert with_floor.endswith(", p at least 0.5")


def test_what_happened_to_nodes_is_told_in_words(digits: Recorded) -> None:
    lost = {"node": 1, "why": "it was killed"}
    story = replace(read_story(digits.path), happened=[("NodeLost", lost), ("ReplicaRebuilt", {"node": 0})])
    (table,) = [section for section in page_of([story]).sections if section.id == "happened"]
    assert isinstance(table, Table)
    assert table.rows == [["digits", "node lost", "node 1, it was killed"], ["digits", "replica rebuilt", "node 0"]]


def test_a_full_disk_leaves_the_old_report_as_it_was(digits: Recorded, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("the old page")
    page = page_of([read_story(digits.path)])
    with little_room(), pytest.raises(InputError, match=r"cannot write .*page\.html"):
        write_page(page, tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == "the old page"
    assert os.listdir(tmp_path) == ["page.html"]


def test_the_error_curve_goes_through_every_evaluation(digits: Recorded) -> None:
    chart: Chart = sections(digits)["error-seen"]
    (curve,) = chart.curves
    assert [(int(x), round(y * 4065)) for x, y in curve.points] == [
        (tried.seen, tried.mistakes) for tried in digits.run.evaluations
    ]
    times: Chart = sections(digits)["error-time"]
    seconds = [x for x, _ in times.curves[0].points]
    assert seconds == sorted(seconds)
    assert seconds[-1] == pytest.approx(digits.run.simulated[2])


def test_the_sampling_rate_adds_up_to_what_was_selected(digits: Recorded) -> None:
    chart: Chart = sections(digits)["rate"]
    points = chart.curves[0].points
    seen = [1000.0, *(x for x, _ in points)]
    selected = sum(rate * (b - a) for (_, rate), a, b in zip(points, seen, seen[1:], strict=False))
    assert selected == pytest.approx(digits.run.selected)


def test_each_node_has_a_lane_and_its_times_add_up(digits: Recorded) -> None:
    timeline: Timeline = sections(digits)["timeline-0"]
    assert [lane.name for lane in timeline.lanes] == ["node 0", "node 1"]
    sifting = sum(row[1 + timeline.kinds.index("sift")] for row in timeline.rows)  # pyright: ignore[reportCallIssue, reportArgumentType]
    assert sifting == pytest.approx(digits.run.sift_seconds)
    for lane in timeline.lanes:
        ends = [(part.start, part.start + part.length) for part in lane.parts]
        assert all(before[1] <= after[0] + 1e-9 for before, after in pairwise(ends))


def test_the_gallery_shows_the_heaviest_digits_as_they_were(digits: Recorded) -> None:
    gallery: Gallery = sections(digits)["heaviest-0"]
    heaviest = digits.run.heaviest(24)
    weights = [float(re.findall(r"weight (\S+)", " ".join(item.lines))[0]) for item in gallery.items]
    assert weights == pytest.approx([each.weight for each in heaviest], rel=1e-3)
    assert all(item.image.startswith("data:image/png;base64,") for item in gallery.items)
    story = read_story(digits.path)
    row = story.heaviest[0].row
    expected: Any = Digits().at(np.array([row["position"]]))
    assert (story.heaviest[0].x == expected.x[0]).all()
    assert story.label(row["y"]) == ("3,1" if expected.y[0] > 0 else "5,7")


def test_rows_that_are_no_images_are_a_table_unless_one_says_their_shape(nasty: Recorded) -> None:
    table: Table = sections(nasty)["heaviest-0"]
    assert list(table.head) == ["position", "label", "weight", "p", "x0", "x1"]
    assert {row[1] for row in table.rows} <= set(NASTY)
    (story,) = read_stories([nasty.path], shape=(1, 2))
    assert any(isinstance(section, Gallery) for section in page_of([story]).sections)
    with pytest.raises(InputError, match="28 by 28 has 784"):
        read_stories([nasty.path], shape=(28, 28))


def test_a_run_without_test_examples_says_so(nasty: Recorded) -> None:
    found = sections(nasty)
    assert "no test examples" in found["error-time"].lines[0]
    assert "error-seen" not in found


def test_several_runs_are_compared_on_one_page(digits: Recorded, nasty: Recorded) -> None:
    page = page_of(read_stories([digits.path, nasty.path, digits.path]))
    by_id = {section.id: section for section in page.sections}
    rate = by_id["rate"]
    assert isinstance(rate, Chart)
    assert len({curve.name for curve in rate.curves}) == 3, "a name of its own for each"
    assert {"timeline-0", "timeline-1", "timeline-2", "speedup-1"} <= set(by_id)


class _Reader(HTMLParser):
    """Which elements and addresses a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_file_asks_for_nothing_else(digits: Recorded, tmp_path: Path) -> None:
    page = write_report([digits.path], tmp_path / "page.html").read_text()
    reader = _Reader()
    reader.feed(page)
    assert set(reader.addresses) == {"data:,", "#page"}
    assert len(page) < 1_000_000


@pytest.mark.parametrize("text", NASTY)
def test_strings_of_the_data_are_never_markup(nasty: Recorded, tmp_path: Path, text: str) -> None:
    page = write_report([nasty.path], tmp_path / "page.html").read_text()
    reader = _Reader()
    reader.feed(page)
    assert reader.tags.count("script") == 2
    assert "img" not in reader.tags
    assert "b" not in reader.tags
    assert text not in page
    assert text in json.dumps(data_in(page), ensure_ascii=False).replace('\\"', '"')


def test_only_the_script_of_the_page_may_run(digits: Recorded, tmp_path: Path) -> None:
    page = write_report([digits.path], tmp_path / "page.html").read_text()
    (allowed,) = re.findall(r"script-src 'sha256-([^']+)'", page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() == allowed


def test_reading_changes_nothing(digits: Recorded, tmp_path: Path) -> None:
    before = digits.path.read_bytes()
    write_report([digits.path], tmp_path / "page.html")
    assert digits.path.read_bytes() == before
    with RunFile.read(digits.path) as file, pytest.raises(sqlite3.OperationalError, match="readonly"):
        file.database.connection.execute("DELETE FROM entries")


def test_a_file_that_is_no_run_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "no.db").write_text("no")
    with pytest.raises(RunFileError, match="not a run file"):
        write_report([tmp_path / "no.db"], tmp_path / "page.html")
    with pytest.raises(RunFileError, match="the file does not exist"):
        write_report([tmp_path / "nothing.db"], tmp_path / "page.html")


def test_a_page_that_cannot_be_written_is_one_clear_error(digits: Recorded, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write"):
        write_report([digits.path], tmp_path / "nowhere" / "page.html")


def test_thinned_curves_keep_their_ends() -> None:
    points = [(float(x), float(-x)) for x in range(5000)]
    few = thinned(points, 100)
    assert len(few) == 100
    assert (few[0], few[-1]) == (points[0], points[-1])
    assert few == sorted(few)


def moons_run(path: Path, **options: Any) -> Run:
    x, y = two_moons(1200, noise=0.3, seed=0)
    return train(LaSVM(gamma=1.0), Arrays(x, y), warmstart=200, batch=200, out=path, nodes=1, **options)


def test_reading_a_run_that_ended_leaves_no_file_beside_it(tmp_path: Path) -> None:
    moons_run(tmp_path / "run.db")
    before = sorted(path.name for path in tmp_path.iterdir())
    read_story(tmp_path / "run.db")
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("budget", [200, 400, 600])
def test_a_budget_that_ends_with_a_round_can_be_reported(tmp_path: Path, budget: int) -> None:
    x, y = two_moons(1200, noise=0.3, seed=0)
    names = np.where(y > 0, "1", "0")
    train(
        LaSVM(gamma=1.0), Unlabelled(x, classes=["0", "1"]), rule=Uniform(1.0), warmstart=200, batch=200,
        oracle=Oracle(lambda index, _rows: names[index], budget=budget), out=tmp_path / "run.db", nodes=1,
    )  # fmt: skip
    assert write_report([tmp_path / "run.db"], tmp_path / "page.html").stat().st_size > 10_000
    if budget > 200:
        assert plan(tmp_path / "run.db").predictions


def test_while_a_run_is_extended_its_earlier_end_is_not_shown(tmp_path: Path) -> None:
    moons_run(tmp_path / "run.db", examples=600)
    with sqlite3.connect(tmp_path / "run.db") as database:
        database.execute("DELETE FROM rounds WHERE number = 2")
        database.execute("DELETE FROM snapshots WHERE rounds = 3")
        database.execute("DELETE FROM entries WHERE sequence >= (SELECT max(version) FROM rounds)")
    assert read_story(tmp_path / "run.db").ended is None
