"""Learners, rules and streams as plain descriptions, to be written to a run file, and back by name.

Only the parts listed here are built from a file: a run file cannot name code to load. A part of the user's own is
written down as such, and has to be handed over again to resume.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias, cast

from paraactive.basics.compiled import notify_on_compile
from paraactive.data.events import Compiling, Observer
from paraactive.data.labels import labels_of, typed_labels
from paraactive.errors import InputError
from paraactive.learners import Guarded, Learner
from paraactive.learners.base import capabilities_of
from paraactive.learners.guarded import KINDS as PLAIN_LEARNERS
from paraactive.learners.rows import learn
from paraactive.rules import FlooredAware, FlooredBlind, Rule
from paraactive.rules.floored import KINDS as PLAIN_RULES
from paraactive.sifting.node import Node
from paraactive.sifting.select import take_all
from paraactive.streams import Arrays, Digits, Stream, Table, Unlabelled
from paraactive.streams.base import StreamDetails

Description: TypeAlias = dict[str, Any]

LEARNERS: dict[str, Callable[..., Learner]] = {**PLAIN_LEARNERS, "guarded": Guarded}
RULES: dict[str, Callable[..., Rule]] = {
    **PLAIN_RULES,
    "floored": cast(Any, FlooredBlind),
    "floored-aware": cast(Any, FlooredAware),
}
AROUND = ("guarded", "floored", "floored-aware")
"""Kinds that are around another part, which their description has inside. Nobody asks for them by name alone."""
_OWN = "own"
_FEW = 8


def describe_learner(learner: Learner) -> Description:
    """Its kind and parameters."""
    return _described(learner, LEARNERS)


def describe_rule(rule: Rule) -> Description:
    """Its kind and parameters."""
    return _described(rule, RULES)


def describe_stream(stream: Stream) -> Description:
    """Enough to open it again, or to know it again when it is handed over."""
    if isinstance(stream, Digits):
        return {"kind": "digits"} | {
            name: getattr(stream, name) for name in ("negative", "positive", "seed", "low", "high", "groups")
        }
    if isinstance(stream, Arrays):
        names = ("source", "seed", "shuffle", "passes", "fingerprint")
        return {"kind": "arrays"} | {name: getattr(stream, name) for name in names}
    if isinstance(stream, Table):
        names = ("label", "weight", "seed", "shuffle", "passes", "fingerprint")
        source = stream.source if isinstance(stream.source, str) else list(stream.source)
        columns = {"features": list(stream.feature_names), "classes": list(stream.classes)}
        return {"kind": "table", "source": source} | columns | {name: getattr(stream, name) for name in names}
    if isinstance(stream, Unlabelled):
        names = ("source", "columns", "seed", "shuffle", "fingerprint")
        classes = typed_labels(stream.classes, stream.label_type).tolist()
        return {"kind": "unlabelled", "classes": classes} | {name: getattr(stream, name) for name in names}
    fingerprint = StreamDetails(stream).fingerprint
    known = {} if fingerprint is None else {"fingerprint": fingerprint}
    return {"kind": _OWN, "class": _class_name(stream)} | known


def expect_classes(learner: Learner, classes: int) -> None:
    """Tell a learner how many classes there are, or an error if it is one for another number."""
    known = capabilities_of(learner).classes
    if known is None:
        learner.classes = classes  # pyright: ignore[reportAttributeAccessIssue]
    elif known != classes:
        raise InputError(
            f"the stream has {classes} classes, and the learner is for {known}",
            why="a score has a place for each class",
            remedy="give a learner that can tell so many, as LaSVM() or Network(), or make groups of the labels",
        )


def build_learner(description: Description) -> Learner:
    """The learner, untrained."""
    return _built(description, LEARNERS, "learner")


def untrained(learner: Learner) -> Learner:
    """A twin that knows nothing; of a learner of the user's own, the learner itself."""
    description = describe_learner(learner)
    return build_learner(description) if description["kind"] in LEARNERS else learner


def warm_up(node: Node, examples: int | None, observe: Observer | None = None) -> None:
    """Load or compile the loops of one of our learners on a twin of it, so that no measured time contains it."""
    if describe_learner(node.learner)["kind"] not in LEARNERS:
        return
    inside = node.learner.learner if isinstance(node.learner, Guarded) else node.learner
    with notify_on_compile(lambda: observe and observe(Compiling(type(inside).__name__))):
        _use_once(node, examples)


def _use_once(node: Node, examples: int | None) -> None:
    fresh = node.stream.read(0, _FEW if examples is None else min(_FEW, examples))
    if not StreamDetails(node.stream).labelled:
        classes = len(node.stream.classes)  # Any will do.
        fresh = replace(fresh, y=labels_of(fresh.index % classes, classes))
    twin = Node(untrained(node.learner), node.rule, node.stream, node.seed)
    learn(twin.learner, take_all(fresh, fresh.index, 0))
    twin.learner.end_round()
    twin.sift(0, len(fresh), 0)


def build_rule(description: Description) -> Rule:
    """The rule."""
    return _built(description, RULES, "rule")


def build_stream(description: Description) -> Stream:
    """The stream, opened again; an error if its file is not what it was."""
    parameters = dict(description)
    kind = parameters.pop("kind")
    if kind == "digits":
        return Digits(**parameters)
    source = parameters.pop("source", None)
    parameters.pop("fingerprint", None)
    if kind not in ("arrays", "table", "unlabelled"):
        raise _not_rebuilt("stream", description)
    if source is None:
        raise InputError(
            "the arrays of the run are not in its file",
            why="they were in memory",
            remedy="hand them over in Python, as resume(path, stream=Arrays(x, y))",
        )
    opened: dict[str, Callable[..., Stream]] = {"table": Table, "arrays": Arrays.load, "unlabelled": Unlabelled.load}
    stream = opened[kind](source, **parameters)
    check_same_stream(stream, description)
    return stream


def check_same_stream(stream: Stream, known: Description) -> None:
    """An error if the stream is known to be another than the one described; its end and its place may differ."""
    now = describe_stream(stream)
    where = now.get("source")
    if now.get("fingerprint") != known.get("fingerprint"):
        raise InputError(
            f"the data {f'in {where}' if where else 'given'} is not what the run was trained on",
            why="its fingerprint differs, and what follows would not fit the log",
            remedy="give the same rows and labels, in the same order",
        )
    free = {"source", "passes", "fingerprint", "classes"}  # The fingerprint covers the names of the classes.
    check_same(
        "stream",
        {name: value for name, value in now.items() if name not in free},
        {name: value for name, value in known.items() if name not in free},
    )


def check_same(what: str, now: Description, known: Description) -> None:
    """An error that names the first difference between two descriptions."""
    for name in known | now:
        was, given = known.get(name), now.get(name)
        if was != json.loads(json.dumps(given)):  # A tuple comes back from the file as a list.
            raise InputError(
                f"the {what} given has {name} {given!r}",
                why=f"the run was made with {name} {was!r}, and what follows would not fit the log",
                remedy=f"give the same {what}, or leave it out where the run file can make it",
            )


def _described(part: Learner | Rule, kinds: dict[str, Any]) -> Description:
    for kind, known in kinds.items():
        # What is around a part of the user's own has no description.
        if type(part) is known and hasattr(part, "describe"):
            return {"kind": kind} | part.describe()
    return {"kind": _OWN, "class": _class_name(part)}


def _built(description: Description, kinds: dict[str, Callable[..., Any]], what: str) -> Any:
    parameters = dict(description)
    kind = parameters.pop("kind")
    if kind not in kinds:
        raise _not_rebuilt(what, description)
    return kinds[kind](**parameters)


def _not_rebuilt(what: str, description: Description) -> InputError:
    return InputError(
        f"the {what} {description.get('class', description['kind'])} cannot be made from the file",
        why="it is not one of paraactive's own, and a file never names code to load",
        remedy=f"hand it over in Python, as resume(path, {what}=...), replay or Model.load",
    )


def _class_name(part: object) -> str:
    return f"{type(part).__module__}.{type(part).__qualname__}"
