"""Claims with verdicts, and the sentences that say what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from paraactive.report import Claim


def decided(claim: str, holds: bool | None, measured: str) -> Claim:
    """Make a claim with its verdict.

    Parameters
    ----------
    claim : str
        The claim, as a sentence.
    holds : bool or None
        Whether the claim holds here; None if the measurement decides nothing.
    measured : str
        What was measured.

    Returns
    -------
    Claim
        The claim.
    """
    return Claim(claim, "open" if holds is None else "yes" if holds else "no", measured)


def growing(speedups: Sequence[tuple[int, float]]) -> bool | None:
    """Return whether speedups grow as the number of mistakes falls.

    Parameters
    ----------
    speedups : sequence of (int, float)
        Mistakes and speedups, from the most mistakes to the fewest.

    Returns
    -------
    bool or None
        True if the last speedup is at least a tenth above the first and at least nine tenths of the largest; None if
        there are fewer than two.
    """
    if len(speedups) < 2:
        return None
    last = speedups[-1][1]
    return last > 1.1 * speedups[0][1] and last > 0.9 * max(value for _, value in speedups)


def by_mistakes(values: Iterable[tuple[int, float]]) -> str:
    """Format values by number of mistakes.

    Parameters
    ----------
    values : iterable of (int, float)
        Mistakes and values.

    Returns
    -------
    str
        The values in one line.

    Examples
    --------
    >>> by_mistakes([(40, 12.13), (30, 14.0)])
    '40 mistakes: 12.1, 30 mistakes: 14.0'
    """
    return ", ".join(f"{level} mistakes: {value:.1f}" for level, value in values)


def by_nodes(values: Mapping[int, float]) -> str:
    """Format values by number of nodes.

    Parameters
    ----------
    values : mapping of int to float
        Values by number of nodes.

    Returns
    -------
    str
        The values in one line.

    Examples
    --------
    >>> by_nodes({1: 1.0, 64: 6.42})
    'k = 1: 1.0, k = 64: 6.4'
    """
    return ", ".join(f"k = {k}: {value:.1f}" for k, value in values.items())
