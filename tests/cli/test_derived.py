"""Options that are derived from parameters, and parts from outside the package on the command line."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from cli.command_line import Printed, complaint, figures
from making import two_moons
from paraactive.basics.registry import LEARNERS, RULES
from paraactive.cli import app
from paraactive.cli.derived import option_of, part_parameters
from paraactive.cli.parameters import Parameter
from paraactive.runs.runfile import RunFile

OUTSIDE = '''
"""A learner and a rule that are not part of paraactive."""

from dataclasses import dataclass
import numpy as np
from paraactive.basics.state import digest


class Means:
    """Distance to the mean of each class, in one direction.

    Parameters
    ----------
    pull : float, default=1.0
        How much an example counts.
    """

    def __init__(self, pull=1.0):
        self.pull, self.total, self.count = pull, np.zeros((2, 0)), np.zeros(2)

    def describe(self):
        return {"pull": self.pull}

    def score(self, x):
        if not self.count.all():
            return np.zeros(len(x))
        negative, positive = self.total / self.count[:, None]
        rows = np.asarray(x, np.float64)
        return np.array([float(np.sum((row - negative) ** 2) - np.sum((row - positive) ** 2)) for row in rows])

    def update(self, selected):
        examples = selected.examples
        if not self.total.size:
            self.total = np.zeros((2, examples.width))
        for x, y, weight in zip(examples.x, examples.y, selected.weight):
            self.total[int(y > 0)] += self.pull * weight * x.astype(np.float64)
            self.count[int(y > 0)] += self.pull * weight

    def end_round(self):
        pass

    def save(self):
        return {"total": self.total.copy(), "count": self.count.copy()}

    def load(self, state):
        self.total, self.count = state["total"].copy(), state["count"].copy()

    def digest(self):
        return digest(self.save())


@dataclass(frozen=True)
class Often:
    """Selects every example with the same probability."""

    share: float = 0.5
    needs_labels = False
    needs_scores = False

    def describe(self):
        return {"share": self.share}

    def probability(self, score, seen):
        return np.full(len(seen), self.share)
'''


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "outside_parts.py").write_text(OUTSIDE)
    x, y = two_moons(900, noise=0.1, seed=0)
    np.savez("data.npz", x=x, y=y)
    return tmp_path


def test_a_learner_and_a_rule_from_outside_are_used_by_their_dotted_names(capsys: Printed) -> None:
    parts = [
        "--learner",
        "outside_parts:Means",
        "--rule",
        "outside_parts:Often",
        "--set",
        "pull=2",
        "--set",
        "share=0.25",
    ]
    threads = ["--engine", "threads", "--warmstart", "200"]
    run = figures(capsys, "train", "data.npz", *parts, *threads, "--out", "run.db", "--test", "data.npz")
    assert 0.2 < run["sampling_rate"] < 0.3
    assert run["mistakes"] < 200
    own = ["--learner", "outside_parts.Means", "--set", "pull=2"]
    assert figures(capsys, "replay", "run.db", *own)["digest"] == run["digest"]
    assert figures(capsys, "evaluate", "run.db", "data.npz", *own)["mistakes"] == run["mistakes"]
    assert figures(capsys, "resume", "run.db", *own, "--rule", "outside_parts:Often")["digest"] == run["digest"]
    assert "the learner given has pull" not in complaint(capsys, "replay", "run.db")
    with RunFile.read("run.db") as file:
        assert file.spec.learner.inner.class_name == "outside_parts.Means"


def test_a_part_that_was_registered_is_used_by_its_short_name(capsys: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LEARNERS, "_kinds", dict(LEARNERS.kinds))
    LEARNERS.register("means", "outside_parts:Means", "means of the classes")
    run = figures(capsys, "train", "data.npz", "--learner", "means", "--engine", "threads", "--out", "run.db")
    assert figures(capsys, "replay", "run.db")["digest"] == run["digest"]
    assert app.run(["report", "run.db"]) == 0
    assert "means of the classes" in Path("run.html").read_text()


def test_a_run_file_never_imports_a_part_by_itself(capsys: Printed) -> None:
    figures(capsys, "train", "data.npz", "--learner", "outside_parts:Means", "--engine", "threads", "--out", "run.db")
    sys.modules.pop("outside_parts")
    assert "outside_parts.Means cannot be built from the file" in complaint(capsys, "predict", "run.db", "data.npz")
    assert "outside_parts" not in sys.modules


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--learner outside_parts:Nobody", "'outside_parts:Nobody' cannot be imported"),
        ("--learner outside_parts:np", "is not a class"),
        ("--learner outside_parts:Often", "--learner is of type Often"),
        ("--set pull=2", "--pull is given for learner 'svm'"),
        ("--set pull", "it does not have the form NAME=VALUE"),
        ("--learner forest", "no learner 'forest': the known learners are svm, network"),
    ],
)
def test_parts_that_cannot_be_used_are_one_line(line: str, said: str, capsys: Printed) -> None:
    assert said in complaint(capsys, "train", "data.npz", *line.split())


def test_every_parameter_of_a_part_is_an_option_with_a_help_text(capsys: Printed) -> None:
    assert app.run(["train", "--help"]) == 0
    shown = capsys.readouterr().out
    for registry in (LEARNERS, RULES):
        for name in registry.names:
            for parameter in part_parameters(registry, name):
                assert f"--{parameter.name.replace('_', '-')}" in shown
                assert parameter.help, f"{name}: {parameter.name} has no documentation"


def test_options_say_choices_and_defaults() -> None:
    option = option_of(Parameter("mode", "str", '{"fast", "slow"}, default="fast"', "How it runs."), "Run")
    assert option.annotation.__metadata__[0].help == "How it runs. One of fast, slow. Default: fast."
    flag = option_of(Parameter("cascade", "bool", "bool, default=True", "Cheap scores first."), "Run")
    assert flag.annotation.__metadata__[0].default == "--cascade/--no-cascade"
