"""A rule for margin learners: select examples that are misclassified or have a small margin."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np

from paraactive.data.examples import Doubles, Ints, Labels
from paraactive.data.labels import signed_margin
from paraactive.rules._formula import AUTO, check_margin_rule, margin_probability


@dataclass(frozen=True)
class SignedMargin:
    """Select misclassified examples always, others by their margin: p = 2 / (1 + exp(slope max(0, y f(x)))).

    The slope is eta / (theta + 1/sqrt(n)), where theta is the noise of the labels: the uncertainty of a score shrinks
    like 1/sqrt(n) only where there is no noise.

    A misclassified example has p = 1 and weight 1. The paper's rule `Margin` selects an example that is misclassified
    by a large margin very rarely, and then with a very large weight. With more than two classes, y f is the score of
    the label minus the best other score. The rule is label-aware.

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
    >>> score, seen = np.array([-1.0, 1.0]), np.array([400, 400])
    >>> SignedMargin(eta=0.1).probability(score, seen, np.array([1, 1], np.int8)).round(3).tolist()
    [1.0, 0.238]
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
        return margin_probability(self.eta, np.maximum(0.0, signed_margin(score, y)), seen, self.theta, self.steepest)

    def at_noise(self, theta: float) -> SignedMargin:
        """See `rules.base.at_noise`."""
        return replace(self, theta=theta) if self.theta == AUTO else self

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name."""
        return asdict(self)
