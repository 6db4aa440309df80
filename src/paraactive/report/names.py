"""Readable names for the parts and events that a run file describes by short kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paraactive.basics.part_spec import PartSpec
from paraactive.basics.registry import LEARNERS, RULES, STREAMS
from paraactive.runs.spec import DataSpec

_EVENTS = {
    "NodeLost": "node lost",
    "NodeSilent": "node does not answer",
    "NodeJoined": "node joined",
    "ReplicaRebuilt": "replica rebuilt",
}


def learner_name(learner: PartSpec) -> str:
    """Name a learner.

    Parameters
    ----------
    learner : PartSpec
        The learner of a run.

    Returns
    -------
    str
        The name, with the most important setting.

    Examples
    --------
    >>> learner_name(PartSpec.from_dict({"kind": "svm", "kernel": "rbf", "C": 1.0}))
    'SVM, rbf kernel'
    >>> inner = {"kind": "network", "hidden": 100}
    >>> learner_name(PartSpec.from_dict({"kind": "guarded", "learner": inner, "set_aside": 0.3}))
    'neural network, 100 hidden units, guarded against wrong labels'
    """
    if learner.inner is not learner:
        return ", ".join([learner_name(learner.inner), *_guards(learner)])
    details = {"svm": ("kernel", "{} kernel"), "network": ("hidden", "{} hidden units")}
    name, form = details.get(learner.kind, ("", ""))
    value = learner.get(name)
    return LEARNERS.title(learner) + ("" if value is None else f", {form.format(value)}")


def _guards(learner: PartSpec) -> list[str]:
    guards: list[str] = ["standardized features"] if learner.get("scale") is True else []
    if learner.get("set_aside") is not None:
        guards.append("guarded against wrong labels")
    cap = learner.number("cap")
    if cap is not None:
        guards.append(f"weights at most {cap:g}")
    if learner.get("class_weight") is not None:
        guards.append("weighted classes")
    return guards


def rule_name(rule: PartSpec, floor: float | str | None = None) -> str:
    """Name a rule.

    Parameters
    ----------
    rule : PartSpec
        The rule of a run.
    floor : float, "auto" or None, default=None
        Lower bound on p of the run.

    Returns
    -------
    str
        The name, with the settings.

    Examples
    --------
    >>> inner = {"kind": "signed", "eta": 0.05}
    >>> rule_name(PartSpec.from_dict({"kind": "floored-aware", "rule": inner, "floor": 0.01}))
    'signed margin, eta 0.05, p at least 0.01'
    >>> rule_name(PartSpec.from_dict({"kind": "signed", "eta": 0.15, "theta": "auto"}), "auto")
    'signed margin, eta 0.15, p at least 1/sqrt(n)'
    >>> rule_name(PartSpec.from_dict({"kind": "uniform", "rate": 0.02}))
    'uniform, rate 0.02'
    """
    inner, own = rule.inner, rule.number("floor")
    numbers = [(name, inner.number(name)) for name in ("eta", "scale", "c0", "rate")]
    settings = [f"{name} {value:.3g}" for name, value in numbers if value is not None]
    floors = ["1/sqrt(n)" if isinstance(each, str) else f"{each:g}" for each in (own, floor) if each is not None]
    bound = [f"p at least {each}" for each in floors]
    return ", ".join([RULES.title(inner), *settings, *bound])


def data_name(data: DataSpec) -> str:
    """Name the source of the examples.

    Parameters
    ----------
    data : DataSpec
        The data of a run.

    Returns
    -------
    str
        The classes of digits, the file or files, or the kind of stream.

    Examples
    --------
    >>> data_name(DataSpec(PartSpec("digits", {}), 784, ("5,7", "3,1")))
    'digits, {3,1} v {5,7}'
    >>> data_name(DataSpec(PartSpec("table", {"source": "a.parquet"}), 2, ("no", "yes")))
    'a.parquet'
    """
    if data.stream.kind == "digits":
        if len(data.classes) != 2:
            return f"digits, {len(data.classes)} classes"
        negative, positive = (f"{{{each}}}" if "," in each else each for each in data.classes)
        return f"digits, {positive} v {negative}"
    if isinstance(data.source, list):
        return ", ".join(data.source)
    return data.source or STREAMS.title(data.stream)


def event_name(kind: str) -> str:
    """Name an event about a node.

    Parameters
    ----------
    kind : str
        Class name of the event.

    Returns
    -------
    str
        The event in words.

    Examples
    --------
    >>> event_name("NodeLost")
    'node lost'
    """
    return _EVENTS.get(kind, kind)


def event_details(event: Mapping[str, Any]) -> str:
    """Describe the payload of an event in one line.

    Parameters
    ----------
    event : mapping
        Payload of the event. Fields that are None are left out.

    Returns
    -------
    str
        Names and values, separated by commas.

    Examples
    --------
    >>> event_details({"node": 1, "why": "it was killed"})
    'node 1, it was killed'
    """
    details = [str(value) if name == "why" else f"{name} {value}" for name, value in event.items() if value is not None]
    return ", ".join(details)
