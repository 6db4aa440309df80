"""A rule for one-against-rest classifiers: select examples on which one of the classifiers has a small margin."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from paraactive.data.examples import Doubles, Ints, Labels
from paraactive.rules._formula import AUTO, check_margin_rule, margin_probability


@dataclass(frozen=True)
class LeastMargin:
    """Select by the least margin m of all one-against-rest classifiers: p = 2 / (1 + exp(slope max(0, m))).

    The slope is eta / (theta + 1/sqrt(n)), where theta is the noise of the labels.

    The classifier of the label should score positive and all others negative: m = min(f_label, -f_c for all other c).
    `SignedMargin` uses the difference of two scores, so it rarely selects an example that only one classifier gets
    wrong. With two classes both rules are equal. Do not use this rule with scores that have a meaning only relative to
    each other, such as those of a softmax. The rule is label-aware.

    Parameters
    ----------
    eta : float, default=0.15
        How fast the sampling probability falls with the margin. A larger eta selects fewer examples. Must be positive.
    theta : float or "auto", default="auto"
        Error that the best possible model would make. Where labels are noisy, a steep rule selects the noise with
        large weights. "auto": the recent error of the run, as it estimates it from its own log. 0 is the paper's rule.
    steepest : float, optional
        Upper bound on the slope eta / (theta + 1/sqrt(n)). Default: no bound. At a slope of 1, all support vectors of
        an SVM are likely to be selected.

    Examples
    --------
    >>> import numpy as np
    >>> score, seen = np.array([[0.2, -3.0, -2.0]]), np.array([400])
    >>> LeastMargin(eta=0.1).probability(score, seen, np.array([0], np.int8)).round(3).tolist()
    [0.803]
    """

    eta: float = 0.15
    theta: float | str = AUTO
    steepest: float | None = None
    needs_labels: ClassVar[Literal[True]] = True
    needs_scores: ClassVar[bool] = True
    rises_with_doubt: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_margin_rule(self)

    def probability(self, score: Doubles, seen: Ints, y: Labels) -> Doubles:
        """See `LabelAwareRule.probability`."""
        return margin_probability(self.eta, np.maximum(0.0, least_margin(score, y)), seen, self.theta, self.steepest)

    def at_noise(self, theta: float) -> LeastMargin:
        """See `rules.base.at_noise`."""
        return replace(self, theta=theta) if self.theta == AUTO else self

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name."""
        return asdict(self)


def least_margin(score: Doubles, y: Labels) -> Doubles:
    """Return the smallest signed margin among the one-against-rest classifiers.

    Parameters
    ----------
    score : ndarray of shape (n,) or (n, classes)
        Scores of two classes, or one score per class.
    y : ndarray of shape (n,)
        Labels: -1 and +1 for two classes, otherwise 0 to classes - 1.

    Returns
    -------
    ndarray of shape (n,)
        y f for two classes, otherwise min(f_label, -f_c for all other c).

    Examples
    --------
    >>> least_margin(np.array([[0.2, -3.0, -2.0]]), np.array([0])).tolist()
    [0.2]
    """
    if score.ndim == 1:
        return y * score
    return np.where(np.arange(score.shape[1]) == y[:, None], score, -score).min(axis=1)
