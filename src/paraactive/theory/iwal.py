"""Algorithm 3 of the paper: IWAL with delays, exactly, for finite hypothesis classes. The loop is in `iwal_loops`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from paraactive.basics.coins import coins
from paraactive.basics.validation import whole
from paraactive.data.examples import Doubles, Ints
from paraactive.rules.iwal import check_c0
from paraactive.theory import iwal_loops
from paraactive.theory.delays import check_delays
from paraactive.theory.predictions import Bools, Predictions, as_labels, as_predictions


@dataclass(frozen=True)
class Iwal:
    """Importance weighted active learning with delays (Algorithm 3).

    At step t, the first n_t = t - tau(t) steps are known. With the weighted errors

        err(h, S_t) = (1/n_t) sum over s <= n_t of (Q_s/P_s) 1{h(X_s) != Y_s},

    h_t = argmin err(h, S_t), h'_t the best hypothesis that differs from h_t at X_t, and
    G_t = err(h'_t, S_t) - err(h_t, S_t) >= 0, the label Y_t is asked for with probability
    P_t = query_probability(G_t, n_t, C0). If all hypotheses predict the same at X_t, G_t is 1, the largest possible
    difference of error rates. So P_t is above 0, and every weighted error is unbiased.

    Parameters
    ----------
    c0 : float, optional
        C0, at least 2. `theory.sufficient_c0` returns one for which the theorems hold. Default: 2.

    Examples
    --------
    >>> import numpy as np
    >>> from paraactive.theory import Iwal, Thresholds, constant_delays
    >>> rng = np.random.default_rng(0)
    >>> x = rng.random(50_000)
    >>> y = (x > 0.4) ^ (rng.random(50_000) < 0.05)
    >>> cuts = Thresholds(np.linspace(0, 1, 101))
    >>> run = Iwal(c0=2).run(cuts.on(x), y, delays=constant_delays(100, 50_000))
    >>> print(f"best cut {cuts.cuts[run.chosen]:.2f}, sampling rate {run.sampling_rate:.2f}")
    best cut 0.40, sampling rate 0.43
    """

    c0: float = 2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "c0", check_c0(self.c0))

    def run(
        self, predictions: Predictions | ArrayLike, y: ArrayLike, *, delays: int | ArrayLike = 1, seed: int = 0
    ) -> IwalRun:
        """Run the algorithm on points, in their order.

        Parameters
        ----------
        predictions : Predictions or array_like
            Predictions of each hypothesis at each point, such as Thresholds(cuts).on(x), or a matrix.
        y : array_like
            The labels, -1 and +1 or booleans. The algorithm only uses labels that it asks for.
        delays : int or array_like of int, optional
            tau(t) for each step, or one number for all steps. Default: 1, which is no delay.
        seed : int, optional
            Seed of the coins. Default: 0.

        Returns
        -------
        IwalRun
            Probabilities, queries and chosen hypotheses.

        Raises
        ------
        InputError
            If an argument is not valid.
        """
        predictions = as_predictions(predictions)
        steps, labels = predictions.points, as_labels(y, predictions.points)
        known = np.arange(1, steps + 1, dtype=np.int64) - check_delays(delays, steps)
        run = IwalRun(
            p=np.ones(steps), queried=np.zeros(steps, np.bool_), n=known, gap=np.zeros(steps),
            best=np.zeros(steps, np.int32), errors=np.zeros(predictions.hypotheses),
        )  # fmt: skip
        iwal_loops.run(
            iwal_loops.packed(predictions), labels, known, np.argsort(known, kind="stable"),
            coins(whole("seed", seed), np.arange(steps, dtype=np.int64)), self.c0,
            run.p, run.queried, run.gap, run.best, run.errors,
        )  # fmt: skip
        run.errors[:] /= steps
        return run


@dataclass(frozen=True)
class IwalRun:
    """The result of Algorithm 3. All arrays but `errors` have a value for each step.

    Parameters
    ----------
    p : array of float64
        P_t: query probability.
    queried : array of bool
        Q_t: whether the algorithm asked for the label.
    n : array of int64
        n_t: number of known steps.
    gap : array of float64
        G_t; 0 while nothing is known.
    best : array of int32
        Number of the hypothesis h_t.
    errors : array of float64
        Weighted error of each hypothesis over all steps.
    """

    p: Doubles
    queried: Bools
    n: Ints
    gap: Doubles
    best: NDArray[np.int32]
    errors: Doubles

    @property
    def queries(self) -> int:
        """Number of labels that the algorithm asked for."""
        return int(self.queried.sum())

    @property
    def sampling_rate(self) -> float:
        """Share of the labels that the algorithm asked for."""
        return self.queries / len(self.queried)

    @property
    def chosen(self) -> int:
        """Number of the best hypothesis after all steps."""
        return int(np.argmin(self.errors))
