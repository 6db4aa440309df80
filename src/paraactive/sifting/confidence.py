"""A confidence interval for the mean of weighted losses that holds under adaptive selection and at all times.

Each example i of the stream contributes Z_i = L_i / p_i if it is selected, otherwise 0. Given everything before it, Z_i
has the mean of the loss of the model that sifted it, whatever the rule: Z_i minus this mean is a martingale difference.
So the mean of all Z_i estimates the mean loss of the models on the way without bias.

The interval is the asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas ("Time-uniform
central limit theory and asymptotic confidence sequences", Annals of Statistics, 2024), which covers martingales. It
holds for all n together, so one may look at it after each round. It is about 1.6 times as wide as the interval of the
central limit theorem for one n.
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

ALPHA = 0.05
"""Probability that an interval misses the truth at any time."""
_TIGHTEST = 10_000.0
"""Number of examples at which the interval is tightest, relative to that of the central limit theorem."""
_RHO2 = (-2.0 * log(ALPHA) + log(-2.0 * log(ALPHA)) + 1.0) / _TIGHTEST


class Interval(NamedTuple):
    """An estimate with its 95% confidence interval.

    Parameters
    ----------
    value : float
        The estimate.
    low, high : float
        The ends of the interval.
    """

    value: float
    low: float
    high: float

    @property
    def width(self) -> float:
        """high - low."""
        return self.high - self.low

    def percent(self) -> str:
        """The estimate and its interval in percent, as people read them.

        Returns
        -------
        str
            Such as "5.00% (4.00% to 6.00%)".
        """
        return f"{self.value:.2%} ({self.low:.2%} to {self.high:.2%})"


def interval_of_mean(
    total: float, squares: float, largest: float, examples: float, most: float | None = 1.0
) -> Interval:
    """Estimate the mean of Z over n examples of the stream.

    Parameters
    ----------
    total : float
        Sum of Z over the examples. Those that were not selected have Z = 0.
    squares : float
        Sum of the squares of Z.
    largest : float
        Largest Z so far. One more such example is added to the sample variance, so that an interval has a width also
        where no loss was seen.
    examples : float
        The number n, above 0.
    most : float or None, default=1.0
        Upper bound on the mean; None if there is none.

    Returns
    -------
    Interval
        The estimate and its interval.

    Examples
    --------
    >>> estimate = interval_of_mean(total=130.0, squares=130.0, largest=1.0, examples=1000)
    >>> f"{estimate.value:.3f} ({estimate.low:.3f} to {estimate.high:.3f})"
    '0.130 (0.090 to 0.170)'
    """
    mean = total / examples
    variance = max((squares + largest**2) / examples - mean**2, largest**2 / examples)
    growth = examples * _RHO2 + 1.0
    half = sqrt(variance * 2.0 * growth / (examples**2 * _RHO2) * log(sqrt(growth) / ALPHA))
    high = mean + half if most is None else min(mean + half, most)
    return Interval(mean if most is None else min(mean, most), max(mean - half, 0.0), high)
