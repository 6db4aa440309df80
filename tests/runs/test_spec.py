"""RunSpec: one description of a run, the same in memory, in the run file, and in files of earlier versions."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from pathlib import Path

import pytest

from making import run_spec
from paraactive import train
from paraactive.basics.part_spec import JSONValue
from paraactive.engines import Placement
from paraactive.errors import InputError
from paraactive.runs.runfile import RunFile
from paraactive.runs.spec import FORMAT, RunSpec
from paraactive.schedules import Plan
from runs.jobs import BATCH, moons, svm

SOURCES = Path(__file__).parents[2] / "src" / "paraactive"


def test_the_run_and_its_file_have_the_same_description(tmp_path: Path) -> None:
    run = train(svm(), moons(passes=2), **BATCH, nodes=3, seed=5, out=tmp_path / "run.db", durability="power")
    with RunFile.read(tmp_path / "run.db") as file:
        assert file.spec == run.spec
    assert (run.spec.seed, run.spec.nodes, run.spec.recording.durability) == (5, 3, "power")
    assert run.spec.data.classes == ("-1", "1")


def test_a_description_survives_json() -> None:
    spec = run_spec(
        learner={"kind": "guarded", "learner": {"kind": "svm", "C": 0.1}, "cap": 2.0},
        test={"kind": "file", "path": "/data/test.npz"}, address="10.0.0.1:6379", engine="ray", budget=30, delay=99,
        label_type="str", durability="power",
    )  # fmt: skip
    values = json.loads(json.dumps(spec.to_dict()))
    assert RunSpec.from_dict(values) == spec
    assert values["format"] == FORMAT


def test_settings_that_version_0_1_did_not_write_have_their_defaults() -> None:
    spec = run_spec()
    assert (spec.data.label_type, spec.recording.durability, spec.labels.per_round, spec.lag) == (
        "str",
        "process",
        None,
        0,
    )
    assert run_spec(schedule="pipelined", lag=2).lag == 2
    assert run_spec(schedule="synchronous", lag=1).lag == 0


@pytest.mark.parametrize(
    "wrong", [{"batch": "many"}, {"classes": None}, {"learner": 3}, {"seed": None}, {"width": "3"}, {"engine": 7}]
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, JSONValue]) -> None:
    with pytest.raises((TypeError, KeyError)):
        run_spec(**wrong)


def test_labels_that_are_not_of_their_type_are_refused() -> None:
    with pytest.raises(InputError, match="label_type is 'int64'"):
        run_spec(classes=["ham", "spam"], label_type="int64")


def test_the_number_of_nodes_can_be_changed_within_the_plan() -> None:
    assert run_spec(batch=10).with_nodes(7).plan == Plan(100, 10, 10, 7)
    with pytest.raises(InputError, match="batch is 10 for 11 nodes"):
        run_spec(batch=10).with_nodes(11)


def test_keys_of_the_configuration_are_strings_in_one_module_only() -> None:
    """Names of settings may be options of the command line and parameters of parts, but nobody reads them by key."""
    keys = {*run_spec().to_dict(), *(each.name for each in fields(Plan)), *(each.name for each in fields(Placement))}
    reads = re.compile(rf"""(?:configuration|settings?|known|spec)\[["']({"|".join(map(re.escape, keys))})["']\]""")
    found = [
        f"{path.relative_to(SOURCES)}: {match.group()}"
        for path in SOURCES.rglob("*.py")
        for match in reads.finditer(path.read_text())
    ]
    assert found == []
    table = [path.name for path in SOURCES.rglob("*.py") if "FROM configuration" in path.read_text()]
    assert set(table) <= {"configuration.py", "chain.py"}
