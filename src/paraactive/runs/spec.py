"""RunSpec: the one description of a run, in `train` and `resume`, in the run file and in reports.

This module alone knows under which names the configuration is written to files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, TypeVar, cast

from paraactive._version import __version__
from paraactive.basics.part_spec import JSONValue, PartSpec
from paraactive.basics.platforms import versions
from paraactive.data.labels import STR, typed_labels
from paraactive.engines.placement import Placement
from paraactive.runs.evaluation import TestSource
from paraactive.schedules import Plan
from paraactive.sifting.budget import Budget
from paraactive.sifting.node import Node
from paraactive.sifting.oracle import Oracle
from paraactive.sifting.parts import describe_learner, describe_rule, describe_stream
from paraactive.sifting.sampling import Sampling
from paraactive.streams.base import StreamDetails

T = TypeVar("T")
FORMAT = 3
"""Version of `RunSpec.to_dict`. Version 1, of paraactive 0.1, has no number and may lack the newest names. Versions 1
and 2 have no sampling policy, and their margin rules do not know the noise."""
_NOISE_AWARE = 3
_MARGIN_RULES = ("margin", "signed", "least")


@dataclass(frozen=True)
class DataSpec:
    """The data of a run.

    Parameters
    ----------
    stream : PartSpec
        The stream, with the fingerprint of its data.
    width : int
        Number of features of an example.
    classes : tuple of str
        Names of the labels, in their order.
    label_type : str, default="str"
        Type of the labels: "str", "bool", or numpy's name of a number type.
    first_pass : int or None, default=None
        Number of examples in the first of several passes.
    """

    stream: PartSpec
    width: int
    classes: tuple[str, ...]
    label_type: str = STR
    first_pass: int | None = None

    def __post_init__(self) -> None:
        typed_labels(self.classes, self.label_type)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features; None if the data has none."""
        names = self.stream.get("features") or self.stream.get("columns")
        return tuple(map(str, names)) if isinstance(names, list) else None

    @property
    def label(self) -> str | None:
        """Name of the label column; None if there is none."""
        label = self.stream.get("label")
        return None if label is None else str(label)

    @property
    def source(self) -> str | list[str] | None:
        """File or files that the stream reads; None for data in memory."""
        source = self.stream.get("source")
        return [str(each) for each in source] if isinstance(source, list) else cast("str | None", source)


@dataclass(frozen=True)
class LabelSpec:
    """Limits on the labels that an oracle is asked for.

    Parameters
    ----------
    budget : int, optional
        Number of labels in the whole run. Default: no limit.
    per_round : int, optional
        Number of labels in one round. Default: no limit.
    """

    budget: int | None = None
    per_round: int | None = None


@dataclass(frozen=True)
class RecordingSpec:
    """What is measured and how safely it is written.

    Parameters
    ----------
    test : TestSource, optional
        Where the test examples come from. Default: there are none.
    durability : {"process", "power"}, default="process"
        Which crash a commit to the run file survives.
    """

    test: TestSource | None = None
    durability: str = "process"


@dataclass(frozen=True)
class Software:
    """The software that made a run.

    Parameters
    ----------
    paraactive : str
        Version of paraactive.
    versions : mapping of str to str
        Versions of Python and of the libraries, and the processor.
    """

    paraactive: str = __version__
    versions: Mapping[str, str] = field(default_factory=versions)


@dataclass(frozen=True)
class RunSpec:
    """All that makes a run what it is.

    Parameters
    ----------
    learner, rule : PartSpec
        The learner and the rule, by the names of the registry.
    data : DataSpec
        The stream, its features and its classes.
    plan : Plan
        Numbers of examples, of nodes and of examples in a round.
    schedule : str
        Order of sifting and learning.
    placement : Placement
        Where the nodes live.
    seed : int
        Seed of the coins.
    labels : LabelSpec
        Limits on the labels that an oracle is asked for.
    recording : RecordingSpec
        Test examples and durability.
    software : Software
        Versions that made the run.
    sampling : Sampling
        What is done to the p of the rule: floor, budget, class weights.
    lag : int, default=0
        Rounds by which the sifting model lagged behind. It is not 0 only in files of the schedule "pipelined", which
        paraactive 0.1 had.
    finish : bool or "auto", default=False
        Whether the run ends with the finishing step of the learner; see `finishing`.
    """

    learner: PartSpec
    rule: PartSpec
    data: DataSpec
    plan: Plan
    schedule: str
    placement: Placement
    seed: int
    labels: LabelSpec = LabelSpec()
    recording: RecordingSpec = RecordingSpec()
    software: Software = field(default_factory=Software)
    sampling: Sampling = field(default_factory=Sampling)
    lag: int = 0
    finish: bool | str = False

    @staticmethod
    def of(
        node: Node, plan: Plan, schedule: str, placement: Placement, oracle: Oracle | None, recording: RecordingSpec
    ) -> RunSpec:
        """Describe a run by the objects that it is made of.

        Parameters
        ----------
        node : Node
            The driver's replica: learner, rule, stream and seed.
        plan : Plan
            Numbers of examples and nodes.
        schedule : str
            Name of the schedule.
        placement : Placement
            Where the nodes live.
        oracle : Oracle or None
            Who is asked for labels.
        recording : RecordingSpec
            Test examples and durability.

        Returns
        -------
        RunSpec
            The description, made by the software that is running.
        """
        stream, details = node.stream, StreamDetails(node.stream)
        labels = LabelSpec(oracle.budget, oracle.per_round) if oracle else LabelSpec()
        data = DataSpec(
            describe_stream(stream), stream.width, tuple(stream.classes), details.label_type, details.first_pass
        )  # fmt: skip
        learner, rule = describe_learner(node.learner), describe_rule(node.rule)
        return RunSpec(
            learner, rule, data, plan, schedule, placement, node.seed, labels, recording, sampling=node.sampling
        )

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return self.plan.nodes

    def with_nodes(self, nodes: int) -> RunSpec:
        """The same run on another number of nodes.

        Parameters
        ----------
        nodes : int
            The number. An InputError says so if the plan does not allow it.

        Returns
        -------
        RunSpec
            A new description.
        """
        return replace(self, plan=replace(self.plan, nodes=nodes))

    def to_dict(self) -> dict[str, JSONValue]:
        """The description as plain values, one name for each setting, as the run file has it.

        Returns
        -------
        dict
            What `from_dict` reads.
        """
        lag: dict[str, JSONValue] = {"lag": self.lag} if self.lag else {}
        finish: dict[str, JSONValue] = {"finish": self.finish} if self.finish else {}
        return {
            "format": FORMAT,
            "paraactive": self.software.paraactive,
            "versions": dict(self.software.versions),
            "learner": self.learner.to_dict(),
            "rule": self.rule.to_dict(),
            "stream": self.data.stream.to_dict(),
            "width": self.data.width,
            "classes": list(self.data.classes),
            "label_type": self.data.label_type,
            "first_pass": self.data.first_pass,
            "test": None if self.recording.test is None else self.recording.test.to_dict(),
            **asdict(self.plan),
            **lag,
            **finish,
            "engine": self.placement.engine,
            "schedule": self.schedule,
            "updates": self.placement.updates,
            "address": self.placement.address,
            "seed": self.seed,
            "budget": self.labels.budget,
            "per_round": self.labels.per_round,
            "durability": self.recording.durability,
            "sampling": _sampling_to_dict(self.sampling),
        }

    @staticmethod
    def from_dict(values: Mapping[str, JSONValue]) -> RunSpec:
        """The description that `to_dict` wrote, also by an earlier version of paraactive.

        Parameters
        ----------
        values : mapping of str to JSON value
            The settings by name.

        Returns
        -------
        RunSpec
            The description. A KeyError, TypeError or ValueError is raised if the settings make no sense.
        """
        known = _Settings(values)
        test = known.mapping("test") if known.has("test") else None
        return RunSpec(
            learner=_learner_of_version(PartSpec.from_dict(known.mapping("learner"))),
            rule=_rule_of_version(PartSpec.from_dict(known.mapping("rule")), known.number("format", 1)),
            data=DataSpec(
                _stream_of_version(PartSpec.from_dict(known.mapping("stream"))),
                known.number("width"),
                tuple(known.texts("classes")),
                known.text("label_type", STR),
                known.optional("first_pass"),
            ),
            plan=Plan(**{each.name: known.number(each.name) for each in fields(Plan) if known.has(each.name)}),
            schedule=known.text("schedule"),
            placement=Placement(known.text("engine"), known.text("updates"), known.optional_text("address")),
            seed=known.number("seed"),
            labels=LabelSpec(known.optional("budget"), known.optional("per_round")),
            recording=RecordingSpec(
                None if test is None else TestSource.from_dict(test), known.text("durability", "process")
            ),
            software=Software(
                known.text("paraactive"), {name: str(each) for name, each in known.mapping("versions", {}).items()}
            ),
            sampling=_sampling_of(known.mapping("sampling", {})),
            lag=known.number("lag", 0) if known.text("schedule") == "pipelined" else 0,
            finish=known.finish(),
        )


def _rule_of_version(rule: PartSpec, version: int) -> PartSpec:
    """A rule as a version of the format means it: rules of older versions do not know the noise."""
    inner = rule.parameters.get("rule")
    if isinstance(inner, PartSpec):
        return PartSpec(rule.kind, {**rule.parameters, "rule": _rule_of_version(inner, version)})
    if version >= _NOISE_AWARE or rule.kind not in _MARGIN_RULES or "theta" in rule.parameters:
        return rule
    return rule.changed(theta=0.0, steepest=None)


def _learner_of_version(learner: PartSpec) -> PartSpec:
    """A learner as the file means it: SVMs of older versions do not weigh the own class, and reprocess all machines."""
    inner = learner.parameters.get("learner")
    if isinstance(inner, PartSpec):
        return PartSpec(learner.kind, {**learner.parameters, "learner": _learner_of_version(inner)})
    if learner.kind != "svm":
        return learner
    older = {"own_weight": 1.0, "reprocess_all": True}
    return learner.changed(**{name: value for name, value in older.items() if name not in learner.parameters})


def _stream_of_version(stream: PartSpec) -> PartSpec:
    """A stream as the file means it: tables of older versions do not center columns."""
    return stream.changed(center=False) if stream.kind == "table" and "center" not in stream.parameters else stream


def _sampling_to_dict(sampling: Sampling) -> dict[str, JSONValue]:
    weights, budget = sampling.class_weight, sampling.budget
    return {
        "floor": sampling.floor,
        "budget": None if budget is None else asdict(budget),
        "class_weight": None if weights is None else list(weights),
        "by_importance": sampling.by_importance,
    }


def _sampling_of(values: dict[str, JSONValue]) -> Sampling:
    floor, budget, weights = (values.get(name) for name in ("floor", "budget", "class_weight"))
    numbers = _of_type(dict, "budget", budget or {})
    by_class = [_of_type(float, "class_weight", each) for each in _of_type(list, "class_weight", weights or [])]
    return Sampling(
        cast("float | str | None", floor),
        Budget(**cast("dict[str, Any]", numbers)) if numbers else None,
        tuple(by_class) if by_class else None,
        bool(values.get("by_importance", False)),
    )


class _Settings:
    """Plain values by name, each read as its type; anything else is an error."""

    def __init__(self, values: Mapping[str, JSONValue]) -> None:
        self._values = values

    def has(self, name: str) -> bool:
        return self._values.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        value = self._values[name] if default is None else self._values.get(name, default)
        return _of_type(str, name, value)

    def optional_text(self, name: str) -> str | None:
        return self.text(name) if self.has(name) else None

    def number(self, name: str, default: int | None = None) -> int:
        return _of_type(int, name, self._values[name] if default is None else self._values.get(name, default))

    def optional(self, name: str) -> int | None:
        return self.number(name) if self.has(name) else None

    def texts(self, name: str) -> list[str]:
        return [str(each) for each in _of_type(list, name, self._values[name])]

    def finish(self) -> bool | str:
        """Files of earlier versions, and of runs that are not finished, do not have it."""
        value = self._values.get("finish", False)
        return _of_type(str, "finish", value) if value == "auto" else _of_type(bool, "finish", value)

    def mapping(self, name: str, default: dict[str, JSONValue] | None = None) -> dict[str, JSONValue]:
        return _of_type(dict, name, self._values[name] if default is None else self._values.get(name, default))


def _of_type(kind: type[T], name: str, value: object) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{name} is {value!r}")
    return value
