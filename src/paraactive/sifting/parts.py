"""Learners, rules and streams as plain descriptions, and back: the registry with types, and what a run file checks."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from paraactive.basics.compiled import notify_on_compile
from paraactive.basics.part_spec import OWN, PartSpec, differences
from paraactive.basics.registry import LEARNERS, RULES, STREAMS
from paraactive.data.events import Compiling, Observer
from paraactive.data.labels import labels_of
from paraactive.errors import InputError
from paraactive.learners import Learner
from paraactive.learners.base import capabilities_of
from paraactive.learners.rows import learn
from paraactive.learners.standardized import LEAST_EXAMPLES, innermost
from paraactive.rules import Rule
from paraactive.sifting.node import Node
from paraactive.sifting.select import take_all
from paraactive.streams import Stream
from paraactive.streams.base import StreamDetails

_WARM_UP_EXAMPLES = LEAST_EXAMPLES
_MAY_DIFFER = ("source", "passes", "fingerprint", "classes")
"""What may differ between the stream of a run file and the one given: its place and its end. The fingerprint, which is
compared first, covers the names of the classes."""


def describe_learner(learner: Learner) -> PartSpec:
    """Describe a learner for a run file.

    Parameters
    ----------
    learner : Learner
        Any learner.

    Returns
    -------
    PartSpec
        Its kind and the parameters of its constructor.
    """
    return LEARNERS.describe(learner)


def describe_rule(rule: Rule) -> PartSpec:
    """Describe a rule for a run file.

    Parameters
    ----------
    rule : Rule
        Any rule.

    Returns
    -------
    PartSpec
        Its kind and the parameters of its constructor.
    """
    return RULES.describe(rule)


def describe_stream(stream: Stream) -> PartSpec:
    """Describe a stream for a run file: enough to open it again, or to recognize it when it is given again.

    Parameters
    ----------
    stream : Stream
        Any stream.

    Returns
    -------
    PartSpec
        Its kind, the parameters to open it, and the fingerprint of its data.
    """
    known = STREAMS.describe(stream)
    fingerprint = StreamDetails(stream).fingerprint if known.kind == OWN else None
    return known if fingerprint is None else known.changed(fingerprint=fingerprint)


def build_learner(spec: PartSpec) -> Learner:
    """Build a learner from its description.

    Parameters
    ----------
    spec : PartSpec
        The description.

    Returns
    -------
    Learner
        The learner, untrained.
    """
    return cast(Learner, LEARNERS.build(spec))


def build_rule(spec: PartSpec) -> Rule:
    """Build a rule from its description.

    Parameters
    ----------
    spec : PartSpec
        The description.

    Returns
    -------
    Rule
        The rule.
    """
    return cast(Rule, RULES.build(spec))


def build_stream(spec: PartSpec) -> Stream:
    """Open the stream of a run file again.

    Parameters
    ----------
    spec : PartSpec
        The description.

    Returns
    -------
    Stream
        The stream. An InputError says so if its data is not there or has changed.
    """
    if spec.kind in STREAMS and "source" in spec.parameters and spec.get("source") is None:
        raise InputError(
            "the arrays of the run are not in its file",
            why="they were in memory",
            remedy="give them in Python, as resume(path, stream=Arrays(x, y))",
        )
    source = [spec.parameters["source"]] if "source" in spec.parameters else []
    options = {name: value for name, value in spec.parameters.items() if name not in ("source", "fingerprint")}
    stream = cast(Stream, STREAMS.build(PartSpec(spec.kind, options), *source))
    check_same_stream(stream, spec)
    return stream


def untrained(learner: Learner) -> Learner:
    """An untrained copy of a learner.

    Parameters
    ----------
    learner : Learner
        Any learner.

    Returns
    -------
    Learner
        A new learner with the same parameters; for a learner that is not in the registry, the learner itself.
    """
    spec = describe_learner(learner)
    return build_learner(spec) if spec.kind in LEARNERS else learner


def is_trained(learner: Learner) -> bool:
    """Whether a learner has been trained before.

    Parameters
    ----------
    learner : Learner
        Any learner.

    Returns
    -------
    bool
        True if it has taken steps, or differs from a new learner with the same parameters. False for a learner that is
        not in the registry and does not declare its steps.
    """
    spec = describe_learner(learner)
    is_known = spec.kind in LEARNERS
    return bool(capabilities_of(learner).steps) or (is_known and build_learner(spec).digest() != learner.digest())


def expect_classes(learner: Learner, classes: int) -> None:
    """Set the number of classes of a learner that leaves it open.

    Parameters
    ----------
    learner : Learner
        The learner. An InputError says so if it is for another number of classes.
    classes : int
        Number of classes of the stream.
    """
    known = capabilities_of(learner).classes
    if known is None:
        learner.classes = classes  # pyright: ignore[reportAttributeAccessIssue]
    elif known != classes:
        raise InputError(
            f"the stream has {classes} classes, and the learner is for {known}",
            why="a score has one number for each class",
            remedy="give a learner that supports that many classes, such as LaSVM() or Network(), or group the labels",
        )


def warm_up(node: Node, examples: int | None, observe: Observer | None = None) -> None:
    """Load or compile the loops of a registered learner, so that no measured time contains it.

    Parameters
    ----------
    node : Node
        The replica. An untrained copy of its learner is used, never the learner itself.
    examples : int or None
        Number of examples of the run; None if it is not known.
    observe : callable, optional
        Called with the event `Compiling` if loops are compiled.
    """
    if describe_learner(node.learner).kind not in LEARNERS:
        return
    name = type(innermost(node.learner)).__name__
    with notify_on_compile(lambda: observe and observe(Compiling(name))):
        _use_once(node, examples)


def _use_once(node: Node, examples: int | None) -> None:
    fresh = node.stream.read(0, _WARM_UP_EXAMPLES if examples is None else min(_WARM_UP_EXAMPLES, examples))
    if not StreamDetails(node.stream).labelled:
        classes = len(node.stream.classes)  # Any labels will do.
        fresh = replace(fresh, y=labels_of(fresh.index % classes, classes))
    copy = Node(untrained(node.learner), node.rule, node.stream, node.seed, sampling=node.sampling)
    learn(copy.learner, take_all(fresh, fresh.index, 0))
    copy.learner.end_round()
    copy.sift(0, len(fresh), 0)


def check_same_stream(stream: Stream, known: PartSpec) -> None:
    """Check that a stream is the one that a run was trained on. Its place and its number of passes may differ.

    Parameters
    ----------
    stream : Stream
        The stream given. An InputError names the difference.
    known : PartSpec
        What the run file says.
    """
    now = describe_stream(stream)
    where = now.get("source")
    if now.get("fingerprint") != known.get("fingerprint"):
        raise InputError(
            f"the data {f'in {where}' if where else 'given'} is not what the run was trained on",
            why="its fingerprint differs, so the examples would not match the log",
            remedy="give the same rows and labels, in the same order",
        )
    check_same("stream", now, known, _MAY_DIFFER)


def check_same(sort: str, given: PartSpec, known: PartSpec, ignored: tuple[str, ...] = ()) -> None:
    """Check that a part is the one of the run file.

    Parameters
    ----------
    sort : str
        "learner", "rule" or "stream".
    given, known : PartSpec
        The part given, and what the run file says. An InputError names the first difference.
    ignored : tuple of str
        Parameters that may differ.
    """
    for name in differences(given, known, ignored)[:1]:
        one, other = (spec.kind if name == "kind" else spec.to_dict().get(name) for spec in (given, known))
        raise InputError(
            f"the {sort} given has {name} {one!r}",
            why=f"the run was made with {name} {other!r}, so the rest would not match the log",
            remedy=f"give the same {sort}, or leave it out if the run file can build it",
        )
