"""Label-blind rules: select examples near the decision boundary. `PaperMargin` is the rule of the paper."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Literal

from paraactive.basics.validation import positive
from paraactive.data.examples import Doubles, Ints
from paraactive.rules._formula import AUTO, WHY_ETA, check_margin_rule, margin, margin_probability


@dataclass(frozen=True)
class Margin:
    """Select examples near the decision boundary: p = 2 / (1 + exp(slope |f(x)|)).

    The slope is eta / (theta + 1/sqrt(n)), where theta is the noise of the labels. With theta = 0 it is `PaperMargin`.

    n is the number of examples that the whole cluster has seen. With more than two classes, |f| is the best score minus
    the second best. The rule is label-blind.

    Parameters
    ----------
    eta : float, default=0.1
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
    >>> Margin(eta=0.1).probability(np.array([0.0, -1.0]), np.array([400, 400])).round(3).tolist()
    [1.0, 0.238]
    """

    eta: float = 0.1
    theta: float | str = AUTO
    steepest: float | None = None
    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = True
    rises_with_doubt: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_margin_rule(self)

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        """See `BlindRule.probability`."""
        return margin_probability(self.eta, margin(score), seen, self.theta, self.steepest)

    def at_noise(self, theta: float) -> Margin:
        """See `rules.base.at_noise`."""
        return replace(self, theta=theta) if self.theta == AUTO else self

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name."""
        return asdict(self)


@dataclass(frozen=True)
class PaperMargin:
    """The rule of the paper, which does not know the noise: p = 2 / (1 + exp(eta |f(x)| sqrt(n))).

    n is the number of examples that the whole cluster has seen. With more than two classes, |f| is the best score minus
    the second best. The rule is label-blind.

    Parameters
    ----------
    eta : float, default=0.1
        How fast the sampling probability falls with the margin. A larger eta selects fewer examples. Must be positive.

    Examples
    --------
    >>> import numpy as np
    >>> PaperMargin(eta=0.1).probability(np.array([0.0, -1.0]), np.array([400, 400])).round(3).tolist()
    [1.0, 0.238]
    """

    eta: float = 0.1
    needs_labels: ClassVar[Literal[False]] = False
    needs_scores: ClassVar[bool] = True
    rises_with_doubt: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", positive("eta", self.eta, WHY_ETA))

    def probability(self, score: Doubles, seen: Ints) -> Doubles:
        """See `BlindRule.probability`."""
        return margin_probability(self.eta, margin(score), seen)

    def describe(self) -> dict[str, Any]:
        """Return the constructor's parameters by name."""
        return asdict(self)
