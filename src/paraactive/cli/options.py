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
    eta: float | None, c0: float | None, rate: float | None, **learner_options: float | None,
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
        _rule(learner, rule, eta=eta, c0=c0, rate=rate),
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
    own = {"svm": ("C", "gamma", "gap"), "network": ("hidden", "step", "importance_aware")}
    foreign = [name for name in given if name not in own[kind]]
    if foreign:
        raise InputError(
            f"--{foreign[0].replace('_', '-')} is given for learner {kind!r}",
            why="it is not one of its parameters",
            remedy="leave it out",
        )
    if given.get("gap") == 0:
        given["gap"] = None
    return {"kind": kind, **defaults, **given}


_RULE_OPTIONS = {"eta": ("margin", "signed"), "c0": ("iwal",), "rate": ("uniform",)}


def _rule(learner: str, rule: str, **options: float | None) -> parts.Description:
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if rule not in _RULE_OPTIONS[name]:
            has = " and ".join(_RULE_OPTIONS[name])
            raise InputError(
                f"--{name} is given for rule {rule!r}",
                why=f"only {has} {'has' if len(_RULE_OPTIONS[name]) == 1 else 'have'} it",
                remedy="leave it out",
            )
    default = {"eta": ETA[learner, rule]} if rule in _RULE_OPTIONS["eta"] else {}
    return {"kind": rule, **default, **given}
