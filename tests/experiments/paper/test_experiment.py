"""`reproduce` at a small scale: its files, its claims, and resuming."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from full_disk import little_room
from paraactive.errors import InputError
from paraactive.experiments.paper import EXPERIMENTS, Experiment, reproduce
from paraactive.experiments.paper.experiment import ExperimentResult, write_result
from paraactive.experiments.timing import mean_seconds_to, seconds_to, seconds_until, smoothed
from paraactive.report import read_run_record
from paraactive.runs.runfile import RunFile

TINY = 4 * 4096


def tiny(name: str, examples: int = TINY) -> Experiment:
    """The same kinds of runs, on few examples."""
    whole = EXPERIMENTS[name]
    sizes: Mapping[str, int] = {"small": examples}
    return replace(whole, kinds=[replace(kind, examples=sizes) for kind in whole.kinds])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reproduced")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_leaves_runs_points_figures_and_a_page(name: str, folder: Path) -> None:
    out, done = folder / name, dict[str, float]()
    found = reproduce(tiny(name), "small", out, progress=done.__setitem__)
    kinds = EXPERIMENTS[name].kinds
    assert sorted(path.stem for path in (out / "runs").glob("*.db")) == sorted(
        f"{name}-{kind.file}-0" for kind in kinds
    )
    assert set(done) == {f"{kind.name}, seed 0" for kind in kinds}
    assert set(done.values()) == {1.0}
    points = json.loads((out / f"{name}.json").read_text())
    assert [claim["claim"] for claim in points["claims"]] == [claim.claim for claim in found.claims]
    assert {claim.verdict for claim in found.claims} <= {"yes", "no", "open"}
    for chart in found.charts:
        for kind in ("png", "svg"):
            assert (out / f"{chart.id}.{kind}").stat().st_size > 1000
    page = (out / f"{name}.html").read_text()
    assert all(json.dumps(claim.claim)[1:-1].replace("<", "\\u003c") in page for claim in found.claims)
    time = found.charts[0]
    for curve in time.curves:
        assert len(curve.points) >= 3
        assert all(x > 0 and y > 0 for x, y in curve.points)


def test_what_is_there_is_not_run_again_and_more_is_added_to_it(folder: Path) -> None:
    out = folder / "network"
    reproduce(tiny("network"), "small", out)
    logs = {path: path.read_bytes() for path in (out / "runs").glob("*.db")}
    reproduce(tiny("network"), "small", out)
    assert {path: path.read_bytes() for path in logs} == logs
    found = reproduce(tiny("network", TINY + 4096), "small", out)
    for path in logs:
        with RunFile.read(path) as file:
            assert file.seen == TINY + 4096
    assert f"{TINY + 4096:,} examples" in found.notes[0]


def test_another_run_in_the_place_of_one_is_refused(folder: Path, tmp_path: Path) -> None:
    reproduce(tiny("network"), "small", folder / "network")
    (tmp_path / "runs").mkdir()
    shutil.copy(folder / "network" / "runs" / "network-gradient-0.db", tmp_path / "runs" / "network-passive-0.db")
    with pytest.raises(InputError, match="another rule"):
        reproduce(tiny("network"), "small", tmp_path)


def test_the_speedups_of_more_nodes_are_those_of_the_clock(folder: Path) -> None:
    out = folder / "svm"
    reproduce(tiny("svm"), "small", out)
    record = read_run_record(out / "runs" / "svm-parallel-0.db")
    for k in (1, 8, 128):
        expected = record.rounds[0].update_seconds + sum(ended.elapsed[k] for ended in record.rounds[1:])
        assert seconds_until(record.rounds, record.seen, k) == pytest.approx(expected)
    level = max(mistakes for _, mistakes in smoothed(record))
    one, many = seconds_to(record, level, 1), seconds_to(record, level, 128)
    assert one is not None
    assert many is not None
    assert many < one
    assert mean_seconds_to([record, record], level) == seconds_to(record, level)
    assert mean_seconds_to([record], -1) is None


def test_a_full_disk_leaves_the_old_points_as_they_were(tmp_path: Path) -> None:
    points = write_result(ExperimentResult("An experiment", [], []), "test", tmp_path).files["points"]
    before, room = points.read_text(), 100_000
    found = ExperimentResult(
        "An experiment", [], [], details={"more": "x" * room}
    )  # Only the points have it, not the page.
    with little_room(room), pytest.raises(InputError, match=r"cannot write .*test\.json"):
        write_result(found, "test", tmp_path)
    assert points.read_text() == before
