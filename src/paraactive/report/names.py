"""Readable names for the parts and events that a run file describes by short kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

_LEARNERS = {"svm": "SVM", "network": "neural network", "sklearn": "scikit-learn"}
_RULES = {
    "margin": "margin",
    "signed": "signed margin",
    "least": "least margin",
    "gradient": "gradient",
    "iwal": "IWAL margin",
    "uniform": "uniform",
    "passive": "passive (learn everything)",
}
_STREAMS = {"arrays": "arrays in memory", "table": "table", "unlabelled": "unlabeled rows"}
_EVENTS = {
    "NodeLost": "node lost",
    "NodeSilent": "node does not answer",
    "NodeJoined": "node joined",
    "ReplicaRebuilt": "replica rebuilt",
}


def learner_name(description: Mapping[str, Any]) -> str:
    """Name a learner.

    Parameters
    ----------
    description : mapping
        Description of the learner, as the run file stores it.

    Returns
    -------
    str
        The name, with the most important setting.

    Examples
    --------
    >>> learner_name({"kind": "svm", "kernel": "rbf", "C": 1.0})
    'SVM, rbf kernel'
    >>> learner_name({"kind": "guarded", "learner": {"kind": "network", "hidden": 100}, "set_aside": 0.3})
    'neural network, 100 hidden units, guarded against wrong labels'
    """
    kind = str(description["kind"])
    if kind == "guarded":
        return ", ".join([learner_name(description["learner"]), *_guard_names(description)])
    name = _LEARNERS.get(kind) or str(description.get("class", kind))
    detail = {"svm": "{kernel} kernel", "network": "{hidden} hidden units"}.get(kind)
    try:
        return f"{name}, {detail.format(**description)}" if detail else name
    except KeyError:  # Another version wrote the description, without that setting.
        return name


def _guard_names(description: Mapping[str, Any]) -> list[str]:
    names: list[str] = []
    if description.get("set_aside") is not None:
        names.append("guarded against wrong labels")
    if description.get("cap") is not None:
        names.append(f"weights at most {description['cap']:g}")
    if description.get("class_weight") is not None:
        names.append("weighted classes")
    return names


def rule_name(description: Mapping[str, Any]) -> str:
    """Name a rule.

    Parameters
    ----------
    description : mapping
        Description of the rule, as the run file stores it.

    Returns
    -------
    str
        The name, with the settings.

    Examples
    --------
    >>> rule_name({"kind": "floored-aware", "rule": {"kind": "signed", "eta": 0.05}, "floor": 0.01})
    'signed margin, eta 0.05, p at least 0.01'
    >>> rule_name({"kind": "uniform", "rate": 0.02})
    'uniform, rate 0.02'
    """
    inside = description.get("rule", description)
    kind = str(inside["kind"])
    name = _RULES.get(kind) or str(inside.get("class", kind))
    settings = [f"{key} {inside[key]:.3g}" for key in ("eta", "scale", "c0", "rate") if key in inside]
    floor = description.get("floor")
    return ", ".join([name, *settings, *([] if floor is None else [f"p at least {floor:g}"])])


def data_name(description: Mapping[str, Any], classes: Sequence[str]) -> str:
    """Name the source of the examples.

    Parameters
    ----------
    description : mapping
        Description of the stream, as the run file stores it.
    classes : sequence of str
        Names of the classes, in the order of their numbers.

    Returns
    -------
    str
        The file or files, or the kind of stream.

    Examples
    --------
    >>> data_name({"kind": "digits"}, ["5,7", "3,1"]), data_name({"kind": "table", "source": "a.parquet"}, [])
    ('digits, {3,1} v {5,7}', 'a.parquet')
    """
    if description["kind"] == "digits":
        if len(classes) != 2:
            return f"digits, {len(classes)} classes"
        negative, positive = (f"{{{each}}}" if "," in each else each for each in classes)
        return f"digits, {positive} v {negative}"
    source = description.get("source") or description.get("path")
    if isinstance(source, list | tuple):
        return ", ".join(map(str, cast(Sequence[object], source)))
    kind = str(description["kind"])
    return str(source or _STREAMS.get(kind) or description.get("class", kind))


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
