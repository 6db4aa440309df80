"""How scikit-learn estimators learn weights 1/p: in small steps, in minibatches by weight, or as they are.

An example of weight w stands for w examples. SGDClassifier multiplies its step by w, which overshoots, and counts the
example once in its learning rate, its decay and its average. MLPClassifier divides by the sum of the weights of a call.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from paraactive.learners.wrappers.minibatches import Minibatch

MAX_STEPS = 100
"""Largest number of steps for one example. Beyond it the steps grow."""
_LINEAR = {"SGDClassifier", "Perceptron"}


def takes_steps(estimator: object) -> bool:
    """Whether an estimator takes a step for each example, multiplied by its weight.

    Parameters
    ----------
    estimator : object
        A scikit-learn estimator.

    Returns
    -------
    bool
        True for SGDClassifier, Perceptron and their subclasses.
    """
    return bool(_names(estimator) & _LINEAR)


def divides_by_weight(estimator: object) -> bool:
    """Whether an estimator takes one step for each call, divided by the sum of the weights.

    Parameters
    ----------
    estimator : object
        A scikit-learn estimator.

    Returns
    -------
    bool
        True for MLPClassifier and its subclasses.
    """
    return "MLPClassifier" in _names(estimator)


def why_passive(estimator: Any) -> str | None:
    """Why an estimator should learn every example, and what to do about it.

    Parameters
    ----------
    estimator : object
        A scikit-learn estimator.

    Returns
    -------
    str or None
        The reason; None if sifting suits the estimator.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> why_passive(SGDClassifier(average=True))
    """
    name = type(estimator).__name__
    if takes_steps(estimator) and not getattr(estimator, "average", False):
        remedy = "average=True" if "average" in estimator.get_params() else "SGDClassifier(average=True)"
        return (
            f"{name} without averaging depends mostly on its last few steps, and weights 1/p make them noisier; "
            f"give {remedy}, which is also much better after one pass, or name a rule"
        )
    if any(each.endswith("NB") for each in _names(estimator)):
        return (
            f"{name} estimates means over all examples, to which each contributes alike, and learns examples as fast "
            "as it scores them; name a rule to sift all the same"
        )
    return None


def in_small_steps(batch: Minibatch) -> Minibatch:
    """Repeat each example of weight w in ceil(w) rows of equal weight, so that no step has a weight above 1.

    Parameters
    ----------
    batch : Minibatch
        Examples with their weights.

    Returns
    -------
    Minibatch
        The same total weight for each example. A weight above MAX_STEPS gives MAX_STEPS rows.

    Examples
    --------
    >>> batch = Minibatch(np.zeros((2, 1)), np.array([1, -1], np.int8), np.array([1.0, 2.4]))
    >>> in_small_steps(batch).weight.round(3).tolist()
    [1.0, 0.8, 0.8, 0.8]
    """
    steps = np.clip(np.ceil(batch.weight), 1, MAX_STEPS).astype(np.int64)
    if steps.max(initial=1) == 1:
        return batch
    rows = np.repeat(np.arange(len(batch)), steps)
    return Minibatch(batch.x[rows], batch.y[rows], (batch.weight / steps)[rows])


def _names(estimator: object) -> set[str]:
    return {each.__name__ for each in type(estimator).__mro__}
