"""From what was typed to learners, rules and streams, with the defaults that fit each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraactive import parts
from paraactive.arguments import default_rule
from paraactive.errors import InputError
from paraactive.experiments.tasks import ETA, GAMMA, GAP, TASKS, find_task
from paraactive.learners import Learner
from paraactive.rules import Rule
from paraactive.streams import Arrays, Digits, Stream
from paraactive.validation import one_of

DEFAULT_EXAMPLES = 102_400
"""Of a stream that never ends."""


@dataclass(frozen=True)
class Job:
    """A stream, where its test examples are, and how to make the learner and the rule."""

    stream: Stream
    test: Path | bool
    learner: parts.Description
    rule: parts.Description

    def new_learner(self) -> Learner:
        """The learner, untrained."""
        return parts.build_learner(self.learner)

    def new_rule(self) -> Rule:
        """The rule."""
        return parts.build_rule(self.rule)


def make_job(
    data: str, test: Path | None, learner: str | None, rule: str | None, *, seed: int, passes: int,
    eta: float | None, rate: float | None, **learner_options: float | None,
) -> Job:  # fmt: skip
    """Everything that `train` needs, checked."""
    if learner is None:
        learner = TASKS[data].learner if data in TASKS else "svm"
    one_of("learner", learner, parts.LEARNERS)
    rule = rule or default_rule(parts.LEARNERS[learner])
    one_of("rule", rule, parts.RULES)
    stream = _stream(data, learner, seed, passes)
    return Job(
        stream,
        isinstance(stream, Digits) if test is None else test,
        _learner(learner, rule, isinstance(stream, Digits), seed, learner_options),
        _rule(learner, rule, eta, rate),
    )


def _stream(data: str, learner: str, seed: int, passes: int) -> Stream:
    if data in TASKS or Path(data).suffix.lower() not in (".npz", ".npy"):
        return find_task(data).stream(learner, seed)
    return Arrays.load(data, seed=seed, passes=passes)


def _learner(kind: str, rule: str, digits: bool, seed: int, options: dict[str, float | None]) -> parts.Description:
    given: dict[str, float | None] = {name: value for name, value in options.items() if value is not None}
    defaults: dict[str, Any] = {"seed": seed} if kind == "network" else {"gap": GAP.get((kind, rule))}
    if kind == "svm" and digits:
        defaults["gamma"] = GAMMA
    foreign = [
        name for name in given if name not in {"svm": ("C", "gamma", "gap"), "network": ("hidden", "step")}[kind]
    ]
    if foreign:
        raise InputError(
            f"--{foreign[0]} is given for learner {kind!r}",
            why="it is not one of its parameters",
            remedy="leave it out",
        )
    if given.get("gap") == 0:
        given["gap"] = None
    return {"kind": kind, **defaults, **given}


def _rule(learner: str, rule: str, eta: float | None, rate: float | None) -> parts.Description:
    description: parts.Description = {"kind": rule}
    if rule in ("margin", "signed"):
        description["eta"] = ETA[learner, rule] if eta is None else eta
    elif eta is not None:
        raise InputError(
            f"--eta is given for rule {rule!r}", why="only margin and signed have it", remedy="leave it out"
        )
    if rule == "uniform" and rate is not None:
        description["rate"] = rate
    elif rate is not None:
        raise InputError(f"--rate is given for rule {rule!r}", why="only uniform has it", remedy="leave it out")
    return description
