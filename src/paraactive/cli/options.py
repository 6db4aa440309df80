"""From what was typed to learners, rules and streams, with the defaults that fit each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paraactive.basics.registry import LEARNERS, PartSpec
from paraactive.basics.validation import one_of
from paraactive.errors import InputError
from paraactive.experiments.tasks import ETA, GAMMA, GAP, TASKS, find_task
from paraactive.learners import Learner
from paraactive.rules import Rule
from paraactive.runs.arguments import default_rule
from paraactive.sifting import parts
from paraactive.sifting.guard import Guard
from paraactive.streams import Digits, Stream, open_stream

_OPTIONS = {
    "svm": ("C", "gamma", "gap", "cache_size", "max_vectors", "cascade"),
    "network": ("hidden", "step", "minibatch"),
}
"""Of the learners that the command line knows."""
_RULES = ("margin", "signed", "least", "gradient", "iwal", "uniform", "passive")
DEFAULT_EXAMPLES = 102_400
"""Of a stream that never ends."""


@dataclass(frozen=True)
class Job:
    """A stream, where its test examples are, and how to make the learner and the rule."""

    stream: Stream
    test: Path | bool
    learner: PartSpec
    rule: PartSpec

    def new_learner(self) -> Learner:
        """The learner, untrained."""
        return parts.build_learner(self.learner)

    def new_rule(self) -> Rule | str:
        """The rule; its name, if `train` is to find its rate."""
        return "uniform" if self.rule == PartSpec("uniform", {}) else parts.build_rule(self.rule)


def make_job(
    data: str, test: Path | None, learner: str | None, rule: str | None, *, seed: int, passes: int,
    label: str | None, features: str | None, weight: str | None, eta: float | None, c0: float | None,
    rate: float | None, **learner_options: float | None,
) -> Job:  # fmt: skip
    """Everything that `train` needs, checked."""
    if learner is None:
        learner = TASKS[data].learner if data in TASKS else "svm"
    one_of("learner", learner, _OPTIONS)
    stream = _stream(data, learner, seed, passes, label=label, features=features, weight=weight)
    rule = rule or default_rule(LEARNERS.find(learner)(classes=len(stream.classes)))
    one_of("rule", rule, _RULES)
    return Job(
        stream,
        isinstance(stream, Digits) if test is None else test,
        _learner(learner, rule, isinstance(stream, Digits), seed, learner_options),
        describe_rule(learner, rule, eta=eta, c0=c0, rate=rate),
    )


def _stream(data: str, learner: str, seed: int, passes: int, **columns: str | None) -> Stream:
    """A task by its name, or a file; what looks like neither is taken for a misspelt task."""
    if data in TASKS or not ("." in data or "/" in data or (data and Path(data).exists())):
        for name, given in columns.items():
            if given is not None:
                raise InputError(f"--{name} is given for {data}", why="only files have columns", remedy="leave it out")
        return find_task(data).stream(learner, seed)
    return open_stream(
        data, label=columns["label"], features=names_in(columns["features"]), weight=columns["weight"],
        seed=seed, passes=passes,
    )  # fmt: skip


def make_guard(wanted: bool, floor: float | None, cap: float | None, set_aside: float | None) -> Guard | None:
    """The guard that was asked for: by itself, or by one of its parts, which then is all there is of it."""
    if wanted:
        given = {"floor": floor, "cap": cap, "set_aside": set_aside}
        return Guard(**{name: value for name, value in given.items() if value is not None})  # pyright: ignore
    return None if floor is None and cap is None and set_aside is None else Guard(floor, cap, set_aside)


def weights_in(text: str | None) -> dict[str, float] | str | None:
    """balanced, or weights by name.

    >>> weights_in("ham=1,spam=5")
    {'ham': 1.0, 'spam': 5.0}
    """
    if text is None or "=" not in text:
        return text
    weights: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = part.rpartition("=")
        try:
            weights[name.strip()] = float(number)
        except ValueError:
            raise InputError(
                f"--class-weight has {part!r}", why="it is a name and a number", remedy="give it as ham=1,spam=5"
            ) from None
    return weights


def names_in(text: str | None) -> list[str] | None:
    """The names in a list with commas.

    >>> names_in("age, height")
    ['age', 'height']
    """
    return None if text is None else [name.strip() for name in text.split(",")]


def _learner(kind: str, rule: str, digits: bool, seed: int, options: dict[str, float | None]) -> PartSpec:
    given: dict[str, float | None] = {name: value for name, value in options.items() if value is not None}
    defaults: dict[str, Any] = {"seed": seed} if kind == "network" else {"gap": GAP.get((kind, rule))}
    if kind == "svm" and digits:
        defaults["gamma"] = GAMMA
    foreign = [name for name in given if name not in _OPTIONS[kind]]
    if foreign:
        raise InputError(
            f"--{_typed(foreign[0])} is given for learner {kind!r}",
            why="it is not one of its parameters",
            remedy="leave it out",
        )
    if given.get("gap") == 0:
        given["gap"] = None
    return PartSpec(kind, {**defaults, **given})


def _typed(name: str) -> str:
    """The option as it is typed."""
    return {"cascade": "no-cascade", "max_vectors": "budget"}.get(name, name.replace("_", "-"))


_RULE_OPTIONS = {"eta": ("margin", "signed", "least"), "c0": ("iwal",), "rate": ("uniform",)}


def describe_rule(learner: str, rule: str, **options: float | None) -> PartSpec:
    """The rule with what was typed of it; an error if that is for another."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if rule not in _RULE_OPTIONS[name]:
            *some, last = _RULE_OPTIONS[name]
            has = f"{', '.join(some)} and {last}" if some else last
            raise InputError(
                f"--{name} is given for rule {rule!r}",
                why=f"only {has} {'has' if len(_RULE_OPTIONS[name]) == 1 else 'have'} it",
                remedy="leave it out",
            )
    default = {"eta": ETA[learner, rule]} if rule in _RULE_OPTIONS["eta"] else {}
    return PartSpec(rule, {**default, **given})
