"""train: the same model whatever way, and what a run file says of the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from paraactive import train
from paraactive.learners import Learner
from paraactive.rules import PaperMargin, Rule
from paraactive.runs.runfile import RunFile
from paraactive.schedules import Plan
from runs.jobs import BATCH, JOBS, do, moons, svm


@pytest.mark.parametrize("job", JOBS)
def test_a_run_file_changes_nothing_about_the_model(job: str, out: Path):
    assert do(job, out).learner.digest() == do(job, None).learner.digest()


def test_the_plan_of_a_run_is_in_its_file(out: Path):
    rule: Rule = PaperMargin(0.25)
    learner: Learner = svm()
    train(learner, moons(seed=9, passes=3), rule=rule, **BATCH, examples=1000, nodes=4, seed=11, out=out)
    with RunFile.read(out) as file:
        spec = file.spec
    assert spec.plan == Plan(1000, 200, 200, 4)
    assert spec.rule.to_dict() == {"kind": "paper", "eta": 0.25}
    assert spec.learner.to_dict() == {"kind": "svm", **learner.describe()}
    assert (spec.seed, spec.data.stream.get("seed"), spec.data.stream.get("passes")) == (11, 9, 3)
    assert (spec.placement.engine, spec.schedule, spec.data.classes) == ("threads", "synchronous", ("-1", "1"))
