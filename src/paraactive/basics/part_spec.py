"""A learner, a rule or a stream as plain values, as it is written to files, and read from files of earlier versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from paraactive.errors import InputError

JSONValue: TypeAlias = "bool | int | float | str | list[JSONValue] | dict[str, JSONValue] | None"
OWN = "own"
"""Kind of a part that is not in the registry. It has to be given again to resume a run."""
_RENAMED = {"svm": {"budget": "max_vectors"}}
"""Parameters that had another name in files of version 0.1."""
_REMOVED = {"network": {"importance_aware": False}}
"""Parameters of version 0.1 that are gone, with the value under which a part is still the same without them."""


@dataclass(frozen=True)
class PartSpec:
    """A learner, a rule or a stream as plain values, as it is written to files.

    Parameters
    ----------
    kind : str
        Name in the registry, or "own" for a part that is not in it.
    parameters : mapping of str to JSON value or PartSpec
        Parameters of the constructor. The part inside a wrapping part is a PartSpec.
    """

    kind: str
    parameters: Mapping[str, JSONValue | PartSpec]

    @property
    def inner(self) -> PartSpec:
        """The part inside a wrapping part; of any other part, the part itself."""
        return next((value for value in self.parameters.values() if isinstance(value, PartSpec)), self)

    @property
    def class_name(self) -> str | None:
        """Full name of the class of a part that is not in the registry; otherwise None."""
        name = self.parameters.get("class") if self.kind == OWN else None
        return None if name is None else str(name)

    def get(self, name: str) -> JSONValue | PartSpec:
        """The value of a parameter; None if the part has no such parameter.

        Parameters
        ----------
        name : str
            Name of the parameter.

        Returns
        -------
        JSON value or PartSpec
            Its value.
        """
        return self.parameters.get(name)

    def number(self, name: str) -> float | None:
        """The value of a parameter that is a number; None if it is none, or not there.

        Parameters
        ----------
        name : str
            Name of the parameter.

        Returns
        -------
        float or None
            Its value.
        """
        value = self.parameters.get(name)
        return value if isinstance(value, int | float) and not isinstance(value, bool) else None

    def changed(self, **parameters: JSONValue) -> PartSpec:
        """The same part with other parameters.

        Parameters
        ----------
        **parameters : JSON value
            New values by name.

        Returns
        -------
        PartSpec
            A new description.
        """
        return PartSpec(self.kind, {**self.parameters, **parameters})

    def to_dict(self) -> dict[str, JSONValue]:
        """The kind and the parameters in one flat dictionary, for JSON.

        Returns
        -------
        dict
            What `from_dict` reads.
        """
        inside = {
            name: each.to_dict() if isinstance(each, PartSpec) else each for name, each in self.parameters.items()
        }
        return {"kind": self.kind, **inside}

    @staticmethod
    def from_dict(values: Mapping[str, JSONValue]) -> PartSpec:
        """The part that `to_dict` wrote, also by an earlier version of paraactive.

        Parameters
        ----------
        values : mapping of str to JSON value
            The dictionary.

        Returns
        -------
        PartSpec
            The description, with the parameter names of this version.
        """
        kind = str(values["kind"])
        renamed = _RENAMED.get(kind, {})
        parameters: dict[str, JSONValue | PartSpec] = {}
        for name, value in values.items():
            if name == "kind" or _is_gone(kind, name, value):
                continue
            is_part = isinstance(value, dict) and "kind" in value
            parameters[renamed.get(name, name)] = PartSpec.from_dict(value) if is_part else value  # pyright: ignore[reportArgumentType]
        return PartSpec(kind, parameters)


def _is_gone(kind: str, name: str, value: JSONValue) -> bool:
    """Whether a parameter was removed; an error if the part cannot be the same without it."""
    removed = _REMOVED.get(kind, {})
    if name in removed and value != removed[name]:
        raise InputError(
            f"the {kind} has {name} {value!r}",
            why=f"paraactive has no {name} since version 0.2",
            remedy="use paraactive 0.1 for this file, or train again",
        )
    return name in removed


def differences(given: PartSpec, known: PartSpec, ignored: Iterable[str] = ()) -> list[str]:
    """Names of the parameters in which two parts differ.

    Parameters
    ----------
    given, known : PartSpec
        The parts.
    ignored : iterable of str
        Parameters that may differ.

    Returns
    -------
    list of str
        "kind" first, if the kinds differ.
    """
    one, other = given.to_dict(), known.to_dict()
    # Files of earlier versions have only the class of a part that wraps a part of the user's own.
    names = other if known.kind == OWN else other | one
    return [name for name in names if name not in set(ignored) and one.get(name) != other.get(name)]
