"""Names that readers know, for the parts and events that a run file describes by its own short kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
_STREAMS = {"arrays": "arrays in memory", "table": "table", "unlabelled": "rows without labels"}
_EVENTS = {
    "NodeLost": "node lost",
    "NodeSilent": "node does not answer",
    "NodeJoined": "node joined",
    "ReplicaRebuilt": "replica rebuilt",
}


def learner_name(description: Mapping[str, Any]) -> str:
    """The learner in a few words.

    >>> learner_name({"kind": "svm", "kernel": "rbf", "C": 1.0})
    'SVM, rbf kernel'
    >>> learner_name({"kind": "guarded", "learner": {"kind": "network", "hidden": 100}, "set_aside": 0.3})
    'neural network, 100 hidden units, guarded against wrong labels'
    """
    kind = str(description["kind"])
    if kind == "guarded":
        inside, guards = learner_name(description["learner"]), _guards(description)
        return ", ".join([inside, *guards])
    name = _LEARNERS.get(kind) or str(description.get("class", kind))
    detail = {"svm": "{kernel} kernel", "network": "{hidden} hidden units"}.get(kind)
    try:
        return f"{name}, {detail.format(**description)}" if detail else name
    except KeyError:  # A description by another version, without that setting.
        return name


def _guards(description: Mapping[str, Any]) -> list[str]:
    said: list[str] = []
    if description.get("set_aside") is not None:
        said.append("guarded against wrong labels")
    if description.get("cap") is not None:
        said.append(f"weights at most {description['cap']:g}")
    if description.get("class_weight") is not None:
        said.append("classes weighted")
    return said


def rule_name(description: Mapping[str, Any]) -> str:
    """The rule in a few words, with what it was set to.

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
    """Where the examples come from.

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
        return ", ".join(map(str, source))  # pyright: ignore[reportUnknownArgumentType]
    kind = str(description["kind"])
    return str(source or _STREAMS.get(kind) or description.get("class", kind))


def event_name(kind: str) -> str:
    """What happened, in words.

    >>> event_name("NodeLost")
    'node lost'
    """
    return _EVENTS.get(kind, kind)


def event_details(event: Mapping[str, Any]) -> str:
    """The rest of what a run file says of an event.

    >>> event_details({"node": 1, "why": "it was killed"})
    'node 1, it was killed'
    """
    said = [str(value) if name == "why" else f"{name} {value}" for name, value in event.items() if value is not None]
    return ", ".join(said)
