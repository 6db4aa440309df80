"""The learner, rule and stream of a run file: built from it, or given by the user and compared with it."""

from __future__ import annotations

from paraactive.basics.part_spec import PartSpec
from paraactive.errors import InputError
from paraactive.learners import Guarded, Learner, Standardized
from paraactive.learners.base import capabilities_of
from paraactive.rules import Rule
from paraactive.runs.arguments import require_learner, require_stream
from paraactive.sifting import parts
from paraactive.streams import Stream


def check_untrained(learner: Learner) -> None:
    """Check that a learner has not been trained: the log of a run file begins with an untrained learner.

    Parameters
    ----------
    learner : Learner
        The learner. An InputError is raised if it has been trained.
    """
    if parts.is_trained(learner):
        raise InputError(
            "the learner has been trained before",
            why="a run file rebuilds the model from its log, which begins with this run",
            remedy="give a new learner, or resume the run file that it came from",
        )


def learner_of(given: Learner | None, known: PartSpec, classes: int) -> Learner:
    """The learner of a run file: built from it, or given and compared with it.

    Parameters
    ----------
    given : Learner or None
        What the user gives. `Standardized` and `Guarded` around it may be left out.
    known : PartSpec
        What the run file says.
    classes : int
        Number of classes.

    Returns
    -------
    Learner
        The learner, untrained.
    """
    if given is None:
        return parts.build_learner(known)
    require_learner(given)
    given = _wrapped(given, known)
    if capabilities_of(given).classes is None:
        parts.expect_classes(given, classes)
    parts.check_same("learner", parts.describe_learner(given), known)
    check_untrained(given)
    return given


def _wrapped(given: Learner, known: PartSpec) -> Learner:
    """The learner given, with the wrappers around it that the run file names."""
    inside = known.get("learner")
    if isinstance(given, Guarded | Standardized) or not isinstance(inside, PartSpec):
        return given
    kind = next((each for each in (Guarded, Standardized) if each.__name__.lower() in _names_of(known)), None)
    parameters = {name: value for name, value in known.parameters.items() if name not in ("learner", "class")}
    return given if kind is None else kind(_wrapped(given, inside), **parameters)  # pyright: ignore[reportArgumentType]


def _names_of(spec: PartSpec) -> tuple[str, str]:
    return spec.kind, (spec.class_name or "").rpartition(".")[2].lower()


def rule_of(given: Rule | None, known: PartSpec) -> Rule:
    """The rule of a run file: built from it, or given and compared with it.

    Parameters
    ----------
    given : Rule or None
        What the user gives.
    known : PartSpec
        What the run file says.

    Returns
    -------
    Rule
        The rule.
    """
    if given is None:
        return parts.build_rule(known)
    parts.check_same("rule", parts.describe_rule(given), known)
    return given


def stream_of(given: Stream | None, known: PartSpec) -> Stream:
    """The stream of a run file: opened again, or given and compared with it. Its end may differ.

    Parameters
    ----------
    given : Stream or None
        What the user gives.
    known : PartSpec
        What the run file says.

    Returns
    -------
    Stream
        The stream.
    """
    if given is None:
        return parts.build_stream(known)
    require_stream(given)
    parts.check_same_stream(given, known)
    return given
