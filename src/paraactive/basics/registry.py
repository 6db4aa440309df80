"""The registry: learners, rules and streams by name. To add a part, add its line to one of the tables below.

A line names the class as text, so nothing is imported until the part is used. A run file names a part by its kind, and
only kinds of these tables are built from a file: a file can never name code to load. On the command line a user may
also name a class of their own, as "package.module:Class".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import NamedTuple

from paraactive.basics.part_spec import OWN, JSONValue, PartSpec
from paraactive.basics.validation import one_of
from paraactive.errors import InputError


class PartKind(NamedTuple):
    """One line of the registry.

    Parameters
    ----------
    place : str
        Where the part is built: "module:Class", or "module:Class.method" for a stream that is opened by a method.
    title : str
        Name of the part in reports.
    by_name : bool, default=True
        Whether users may choose the part by its name alone. A part that is built around another cannot be chosen so.
    """

    place: str
    title: str
    by_name: bool = True

    @property
    def class_place(self) -> str:
        """Where the class itself is: the place without a method that opens it."""
        module, _, name = self.place.partition(":")
        return f"{module}:{name.partition('.')[0]}"


_PLAIN = (bool, int, float, str, list, tuple, dict, type(None))
_LEARNERS = {
    "svm": PartKind("paraactive.learners.lasvm.svm:LaSVM", "SVM"),
    "network": PartKind("paraactive.learners.network.network:Network", "neural network"),
    "sklearn": PartKind("paraactive.learners.wrappers.sklearn_learner:SklearnLearner", "scikit-learn", by_name=False),
    "guarded": PartKind("paraactive.learners.guarded:Guarded", "guarded", by_name=False),
    "standardized": PartKind("paraactive.learners.standardized:Standardized", "standardized", by_name=False),
}
_RULES = {
    "margin": PartKind("paraactive.rules.margin:Margin", "margin"),
    "paper": PartKind("paraactive.rules.margin:PaperMargin", "margin of the paper"),
    "signed": PartKind("paraactive.rules.signed:SignedMargin", "signed margin"),
    "least": PartKind("paraactive.rules.least:LeastMargin", "least margin"),
    "gradient": PartKind("paraactive.rules.gradient:Gradient", "gradient"),
    "iwal": PartKind("paraactive.rules.iwal:IwalMargin", "IWAL margin"),
    "uniform": PartKind("paraactive.rules.constant:Uniform", "uniform"),
    "passive": PartKind("paraactive.rules.constant:Passive", "passive (learn everything)"),
    "floored": PartKind("paraactive.rules.floored:FlooredBlind", "floored", by_name=False),
    "floored-aware": PartKind("paraactive.rules.floored:FlooredAware", "floored", by_name=False),
}
_STREAMS = {
    "digits": PartKind("paraactive.streams.digits.digits:Digits", "digits"),
    "arrays": PartKind("paraactive.streams.arrays:Arrays.load", "arrays in memory"),
    "table": PartKind("paraactive.streams.tables.table:Table", "table"),
    "unlabelled": PartKind("paraactive.streams.unlabelled:Unlabelled.load", "rows without labels"),
}


class Registry:
    """Parts of one sort by name.

    Parameters
    ----------
    sort : {"learner", "rule", "stream"}
        What the parts are, for error messages.
    kinds : mapping of str to PartKind
        The parts by name.
    """

    def __init__(self, sort: str, kinds: Mapping[str, PartKind]) -> None:
        self.sort, self._kinds = sort, dict(kinds)

    def __contains__(self, name: str) -> bool:
        return name in self._kinds

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    @property
    def kinds(self) -> Mapping[str, PartKind]:
        """All parts by name, read-only."""
        return MappingProxyType(self._kinds)

    @property
    def names(self) -> list[str]:
        """Names that a user may choose."""
        return [name for name, kind in self._kinds.items() if kind.by_name]

    def register(self, name: str, place: str, title: str | None = None) -> None:
        """Make a part known by name in this process.

        A run file then describes the part by this name, and the part is built from run files as long as it is
        registered.

        Parameters
        ----------
        name : str
            Name on the command line and in run files.
        place : str
            "package.module:Class".
        title : str, optional
            Name in reports. Default: the name.
        """
        if name in self._kinds or name == OWN:
            raise InputError(
                f"the {self.sort} {name!r} is registered already",
                why="a name stands for one part",
                remedy="choose another name",
            )
        _split(place)
        self._kinds[name] = PartKind(place, title or name)

    def find(self, name: str) -> type:
        """The class of a part, by its registered name or as "package.module:Class".

        Parameters
        ----------
        name : str
            What a user has typed; never what a file says.

        Returns
        -------
        type
            The class.
        """
        if ":" not in name and "." not in name:
            return _load(self._kinds[one_of(self.sort, name, self.names)].class_place)
        return _load(name)

    def title(self, spec: PartSpec) -> str:
        """Name of a part for reports.

        Parameters
        ----------
        spec : PartSpec
            The part.

        Returns
        -------
        str
            The title of its kind, or the class of a part that is not in the registry.
        """
        kind = self._kinds.get(spec.kind)
        return kind.title if kind else spec.class_name or spec.kind

    def knows(self, part: object) -> bool:
        """Whether the class of a part is in the registry.

        Parameters
        ----------
        part : object
            Any object.

        Returns
        -------
        bool
            True also for a registered part around a part of the user's own.
        """
        return self._name_of(part) is not None

    def describe(self, part: object) -> PartSpec:
        """The part as plain values.

        Parameters
        ----------
        part : object
            A part with a method `describe` that returns the parameters of its constructor.

        Returns
        -------
        PartSpec
            Of kind "own" if the part, or a part inside it, is not in the registry.
        """
        name = self._name_of(part)
        describe = getattr(part, "describe", None)
        if name is None or describe is None:
            return _own(part)
        try:
            parameters = {key: self._described(value) for key, value in describe().items()}
        except (TypeError, AttributeError):  # A part of the user's own cannot describe itself.
            return _own(part)
        inside = [each.kind for each in parameters.values() if isinstance(each, PartSpec)]
        return _own(part, parameters) if OWN in inside else PartSpec(name, parameters)

    def build(self, spec: PartSpec, *arguments: object) -> object:
        """The part that is described.

        Parameters
        ----------
        spec : PartSpec
            A description of a registered kind.
        *arguments : object
            Positional arguments before the parameters of the description.

        Returns
        -------
        object
            The new part.
        """
        if spec.kind not in self._kinds:
            own = spec
            while own.inner is not own:  # A part of ours around a part of the user's own.
                own = own.inner
            raise InputError(
                f"the {self.sort} {own.class_name or own.kind} cannot be built from the file",
                why="it is not one of paraactive's own, and a file never names code to load",
                remedy=f"give it in Python, as resume(path, {self.sort}=...), replay or Model.load",
            )
        parameters = {
            name: self.build(value) if isinstance(value, PartSpec) else value for name, value in spec.parameters.items()
        }
        return _load(self._kinds[spec.kind].place)(*arguments, **parameters)

    def _described(self, value: object) -> JSONValue | PartSpec:
        if self._name_of(value) is not None:
            return self.describe(value)
        if not isinstance(value, _PLAIN) and not hasattr(value, "item"):
            return _own(value)  # A part of the user's own inside a part of ours.
        return json.loads(json.dumps(value, default=_plain))  # A tuple is a list in a file.

    def _name_of(self, part: object) -> str | None:
        own = f"{type(part).__module__}:{type(part).__qualname__}"
        return next((name for name, kind in self._kinds.items() if kind.class_place == own), None)


def _own(part: object, parameters: Mapping[str, JSONValue | PartSpec] | None = None) -> PartSpec:
    return PartSpec(OWN, {"class": f"{type(part).__module__}.{type(part).__qualname__}", **(parameters or {})})


def _split(place: str) -> tuple[str, str]:
    module, _, name = place.partition(":") if ":" in place else place.rpartition(".")
    if not module or not name:
        raise InputError(
            f"{place!r} is not the name of a class", why="it has no module", remedy="give package.module:Class"
        )
    return module, name


def _load(place: str) -> type:
    """The class, or the method that opens it, at "module:Class" or "module:Class.method"."""
    module, name = _split(place)
    try:
        found: object = import_module(module)
        for each in name.split("."):
            found = getattr(found, each)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"{place!r} cannot be imported", why=str(error), remedy="give package.module:Class of an installed package"
        ) from error
    if not callable(found):
        raise InputError(f"{place!r} is not a class", why="it cannot be called", remedy="give package.module:Class")
    return found  # pyright: ignore[reportReturnType]


def _plain(value: object) -> object:
    """A numpy number as a plain one, for JSON."""
    return value.item()  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]


LEARNERS = Registry("learner", _LEARNERS)
RULES = Registry("rule", _RULES)
STREAMS = Registry("stream", _STREAMS)
