"""scikit-learn's objects as plain values, and back. Only the classes listed here are ever named by a file, or imported.

A description (of an estimator) has its class and parameters; a state (of what an estimator holds) has its attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from paraactive.errors import InputError
from paraactive.learners.wrappers.foreign import told

_ESTIMATORS = {
    "SGDClassifier": "sklearn.linear_model",
    "Perceptron": "sklearn.linear_model",
    "BernoulliNB": "sklearn.naive_bayes",
    "CategoricalNB": "sklearn.naive_bayes",
    "ComplementNB": "sklearn.naive_bayes",
    "GaussianNB": "sklearn.naive_bayes",
    "MultinomialNB": "sklearn.naive_bayes",
    "MLPClassifier": "sklearn.neural_network",
}
"""All that have a partial_fit with sample_weight."""
_HELD = {
    "LabelBinarizer": "sklearn.preprocessing",
    "AdamOptimizer": "sklearn.neural_network._stochastic_optimizers",
    "SGDOptimizer": "sklearn.neural_network._stochastic_optimizers",
}
"""All that these hold once they are fitted, beside arrays and numpy's old random generator."""
_STEPS_OF_GENERATOR = 624


def is_known(estimator: Any) -> bool:
    """Whether it is exactly of a class that is listed here."""
    return type(estimator) is _class_of(_path(estimator), _ESTIMATORS)


# Descriptions ------------------------------------------------------------------------------------------------------


def described(estimator: Any) -> dict[str, Any]:
    """Its class and parameters; an AttributeError if they are not plain, so that a learner of it has no `describe`."""
    if not is_known(estimator):
        raise AttributeError(f"{type(estimator).__qualname__} cannot be described: scikit-learn's own classifiers can")
    parameters = estimator.get_params(deep=False)
    return {"class": _path(estimator)} | {
        "parameters": {name: _plain(name, value) for name, value in parameters.items()}
    }


def built(description: Mapping[str, Any]) -> Any:
    """The estimator of such a description."""
    kind = _class_of(description.get("class"), _ESTIMATORS)
    if kind is None:
        raise InputError(
            f"no estimator {description.get('class')!r}",
            why=f"of a description only {', '.join(_ESTIMATORS)} are made",
            remedy="hand the learner over in Python",
        )
    with told(f"no {kind.__name__} has these parameters", remedy="give the description that `describe` gave"):
        return kind(**description.get("parameters", {}))


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(name, item) for item in value]
    raise AttributeError(f"{name}={value!r} cannot be described in plain numbers and strings")


# States ------------------------------------------------------------------------------------------------------------


def take_apart(value: Any) -> tuple[str, Any] | None:
    """What an estimator may hold as its attributes; None if it is something else."""
    kind = type(value)
    if kind is np.random.RandomState:
        return "RandomState", value.get_state()
    return (_path(value), dict(vars(value))) if _class_of(_path(value), _HELD) is kind else None


def put_together(kind: str, inner: Any) -> Any:
    """The object that was taken apart."""
    if kind == "RandomState":
        return _generator(inner)
    known = _class_of(kind, _HELD)
    if known is None:
        raise InputError(
            f"the saved state has an object of {kind}",
            why=f"only {', '.join(_HELD)} are made from a file",
            remedy="load the state that such a learner saved",
        )
    made = object.__new__(known)
    set_attributes(made, inner)
    return made


def set_attributes(target: Any, attributes: Mapping[Any, Any], fixed: frozenset[str] = frozenset()) -> None:
    """Set them all, or refuse: none may stand for a method, for another attribute of the class, or for a fixed one."""
    for name in attributes:
        if not isinstance(name, str) or name in fixed or hasattr(type(target), name):
            raise InputError(
                f"the saved state sets {name!r} of {type(target).__name__}",
                why="what is learnt never has that name",
                remedy="load the state that such a learner saved",
            )
    vars(target).update(attributes)


def _generator(inner: Any) -> np.random.RandomState:
    # numpy does not look at the place, and would read beyond the end.
    if not (isinstance(inner, tuple) and len(inner) == 5 and inner[2] in range(_STEPS_OF_GENERATOR + 1)):
        raise ValueError("it is no state of a random generator")
    generator = np.random.RandomState()
    generator.set_state(inner)
    return generator


# Classes -----------------------------------------------------------------------------------------------------------


def _path(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _class_of(path: Any, known: Mapping[str, str]) -> type | None:
    """The class that is at that path, if it is known; the module is imported only then."""
    name = str(path).rpartition(".")[2]
    if name not in known or not str(path).startswith("sklearn."):
        return None
    kind = getattr(import_module(known[name]), name)
    return kind if path in (f"{known[name]}.{name}", f"{kind.__module__}.{name}") else None
