"""Objects of scikit-learn as plain values, and back. A file can only name the classes that are listed here.

A description of an estimator has its class and parameters. A state of an object inside an estimator has its attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from paraactive.errors import InputError
from paraactive.learners.wrappers.foreign import reraise_as_input_error

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
"""All classifiers whose partial_fit has sample_weight."""
_HELD = {
    "LabelBinarizer": "sklearn.preprocessing",
    "AdamOptimizer": "sklearn.neural_network._stochastic_optimizers",
    "SGDOptimizer": "sklearn.neural_network._stochastic_optimizers",
}
"""All objects in these estimators after fitting, besides arrays and numpy's old random generator."""
_GENERATOR_WORDS = 624
"""Length of the state of numpy's old random generator."""


def is_known(estimator: object) -> bool:
    """Return whether an estimator is exactly of a class that is listed here.

    Parameters
    ----------
    estimator : object
        Any estimator.

    Returns
    -------
    bool
        False for subclasses and for classes of other packages.
    """
    return type(estimator) is _class_of(_path(estimator), _ESTIMATORS)


# Descriptions ------------------------------------------------------------------------------------------------------


def described(estimator: Any) -> dict[str, Any]:
    """Return the description of an estimator.

    Parameters
    ----------
    estimator : sklearn.base.BaseEstimator
        An estimator of a class that is listed here.

    Returns
    -------
    dict
        Its class and parameters.

    Raises
    ------
    AttributeError
        If the class is not listed or a parameter is not plain. So a learner around it has no `describe`.
    """
    if not is_known(estimator):
        raise AttributeError(
            f"{type(estimator).__qualname__} cannot be described: only classifiers of scikit-learn can"
        )
    parameters = estimator.get_params(deep=False)
    return {"class": _path(estimator)} | {
        "parameters": {name: _plain(name, value) for name, value in parameters.items()}
    }


def built(description: Mapping[str, Any]) -> Any:
    """Return the estimator of a description.

    Parameters
    ----------
    description : mapping
        What `described` returned.

    Returns
    -------
    sklearn.base.BaseEstimator
        The estimator, not fitted.

    Raises
    ------
    InputError
        If the class is not listed here or does not accept the parameters.
    """
    kind = _class_of(description.get("class"), _ESTIMATORS)
    if kind is None:
        raise InputError(
            f"no estimator {description.get('class')!r}",
            why=f"a description can only name {', '.join(_ESTIMATORS)}",
            remedy="give the learner in Python",
        )
    fact, remedy = f"{kind.__name__} does not accept these parameters", "give the description that `describe` returned"
    with reraise_as_input_error(fact, remedy):
        return kind(**description.get("parameters", {}))


def _plain(name: str, value: object) -> object:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(name, item) for item in value]
    raise AttributeError(f"{name}={value!r} cannot be described in plain numbers and strings")


# States ------------------------------------------------------------------------------------------------------------


def take_apart(value: object) -> tuple[str, object] | None:
    """Return the kind and the attributes of an object inside an estimator.

    Parameters
    ----------
    value : object
        The object.

    Returns
    -------
    tuple of str and object, or None
        None if the class of the object is not listed here.
    """
    if isinstance(value, np.random.RandomState) and type(value) is np.random.RandomState:
        return "RandomState", value.get_state()
    return (_path(value), dict(vars(value))) if _class_of(_path(value), _HELD) is type(value) else None


def put_together(kind: str, inner: Any) -> object:
    """Return the object that `take_apart` got.

    Parameters
    ----------
    kind : str
        Its kind.
    inner : object
        Its attributes.

    Returns
    -------
    object
        The object.

    Raises
    ------
    InputError
        If the kind is not listed here.
    """
    if kind == "RandomState":
        return _generator(inner)
    known = _class_of(kind, _HELD)
    if known is None:
        raise InputError(
            f"the saved state has an object of {kind}",
            why=f"a file can only name {', '.join(_HELD)}",
            remedy="load a state that such a learner saved",
        )
    made = object.__new__(known)
    set_attributes(made, inner)
    return made


def set_attributes(target: object, attributes: Mapping[Any, Any], fixed: frozenset[str] = frozenset()) -> None:
    """Set attributes of an object; methods and other attributes of its class, and fixed attributes, are refused.

    Parameters
    ----------
    target : object
        The object.
    attributes : mapping
        Values by name.
    fixed : frozenset of str, optional
        Names that must not be set.

    Raises
    ------
    InputError
        If a name must not be set. No attribute is set then.
    """
    for name in attributes:
        if not isinstance(name, str) or name in fixed or hasattr(type(target), name):
            raise InputError(
                f"the saved state sets {name!r} of {type(target).__name__}",
                why="no fitted attribute has that name",
                remedy="load a state that such a learner saved",
            )
    vars(target).update(attributes)


def _generator(inner: Any) -> np.random.RandomState:
    # numpy does not check the position, and would read beyond the end.
    if not (isinstance(inner, tuple) and len(inner) == 5 and inner[2] in range(_GENERATOR_WORDS + 1)):
        raise ValueError("it is not the state of a random generator")
    generator = np.random.RandomState()
    generator.set_state(inner)
    return generator


# Classes -----------------------------------------------------------------------------------------------------------


def _path(value: object) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _class_of(path: object, known: Mapping[str, str]) -> type | None:
    """Return the class of a path if it is listed; its module is imported only then."""
    name = str(path).rpartition(".")[2]
    if name not in known or not str(path).startswith("sklearn."):
        return None
    kind = getattr(import_module(known[name]), name)
    return kind if path in (f"{known[name]}.{name}", f"{kind.__module__}.{name}") else None
