"""The verdict on a run: one sentence with the estimated error, and warnings where the run did not pay or went wrong."""

from __future__ import annotations

from dataclasses import dataclass

from paraactive.sifting.confidence import Interval
from paraactive.sifting.estimates import Estimates

WITHOUT_SCORES = ("passive", "uniform")
"""Rules that need no scores: they do not sift."""
WITH_LABELS = ("signed", "least", "gradient")
"""Rules that see labels. They select misclassified examples with a p near 1."""
_HALF, _TENTH = 0.5, 0.1
_LEAST_EXAMPLES = 200
"""Fewest examples from which a model is said to be no better than the commonest class."""
_BINDS = 0.99
"""Mean factor of p below which a budget is said to limit the number of selected examples."""


@dataclass(frozen=True)
class Verdict:
    """What a run has to say about itself.

    Parameters
    ----------
    sentence : str
        Estimated error with its interval, the error of the commonest class, and what was selected.
    warnings : tuple of str
        What is wrong, with a remedy each. Empty if nothing is.
    is_sound : bool, default=True
        False if the model is no better than always predicting one class, or worse than after the warmstart. Other
        warnings are about cost.
    """

    sentence: str
    warnings: tuple[str, ...]
    is_sound: bool = True

    def __str__(self) -> str:
        return "\n".join([self.sentence, *(f"Warning: {each}" for each in self.warnings)])


def is_worse_than_warmstart(estimates: Estimates | None) -> bool:
    """Whether the latest model is significantly worse than the model after the warmstart.

    Parameters
    ----------
    estimates : Estimates or None
        Estimates of the run.

    Returns
    -------
    bool
        True if the intervals of the two errors do not overlap, and the recent one is higher.
    """
    if estimates is None or estimates.first_weighted_error is None:
        return False
    return estimates.weighted_error.low > estimates.first_weighted_error.high


def verdict_of(
    estimates: Estimates | None, selected: int, sifted: int, kept_warmstart: bool, rule: str = ""
) -> Verdict:
    """The verdict on a run.

    Parameters
    ----------
    estimates : Estimates or None
        Estimates of the run; None if its log has no scores.
    selected, sifted : int
        Number of examples selected, and number sifted, without the warmstart.
    kept_warmstart : bool
        Whether the model after the warmstart was kept, because it is better than the latest one.
    rule : str, default=""
        Name of the rule. There is no warning about the number selected for "passive" and "uniform".

    Returns
    -------
    Verdict
        The verdict.
    """
    rate = selected / sifted if sifted else 0.0
    chosen = f"{selected:,} of {sifted:,} examples were selected ({rate:.1%})"
    if not sifted:
        chosen = "all examples were learned in the warmstart"
    if estimates is not None and estimates.scale < _BINDS:
        chosen += f", limited by the budget (scale of p {estimates.scale:.2f} on average)"
    if estimates is None:
        why = "no example was scored before it, or an equal one, was learned"
        return Verdict(f"The error is not known, because {why}; {chosen}.", ())
    known = estimates
    error = estimated_error(known, known.is_weighted, kept_warmstart)
    if known.is_weighted:
        errors = (
            f"Estimated weighted error {error.percent()}; always predicting one class: "
            f"{known.commonest_weighted_error:.2%}"
        )
    else:
        errors = (
            f"Estimated error {error.percent()}; always predicting the commonest class: {known.commonest_error:.2%}"
        )
    sentence = f"{errors}; {chosen}."
    is_sifted = rule not in WITHOUT_SCORES and sifted >= _LEAST_EXAMPLES
    warnings = tuple(_warnings(known, rate if is_sifted else 0.0, kept_warmstart, rule in WITHOUT_SCORES))
    return Verdict(sentence, warnings, not (_is_useless(known) or is_worse_than_warmstart(known)))


def estimated_error(known: Estimates, is_weighted: bool, kept_warmstart: bool) -> Interval:
    """The estimated error of the model that a run returns.

    Parameters
    ----------
    known : Estimates
        Estimates of the run.
    is_weighted : bool
        Whether examples count by their importance.
    kept_warmstart : bool
        Whether the model after the warmstart was kept.

    Returns
    -------
    Interval
        The recent error; if the model after the warmstart was kept, the error of this model in the first rounds.
    """
    first = known.first_weighted_error if is_weighted else known.first_error
    if kept_warmstart and first is not None:
        return first
    return known.weighted_error if is_weighted else known.recent_error


def _is_useless(known: Estimates) -> bool:
    # With few examples, or if only one class was scored, nothing can be said.
    is_known = known.recent_examples >= _LEAST_EXAMPLES and known.commonest_weighted_error > 0.0
    return is_known and known.weighted_error.value >= known.commonest_weighted_error


def _warnings(known: Estimates, rate: float, kept_warmstart: bool, has_no_floor: bool) -> list[str]:
    found: list[str] = []
    if _is_useless(known):
        one = "one class" if known.is_weighted else repr(known.commonest)
        found.append(
            f"the model is no better than always predicting {one}: the features may not tell the "
            "classes apart, or the parameters of the learner may not fit the data; try tune (--tune)"
        )
    if is_worse_than_warmstart(known) and known.first_weighted_error is not None:
        if kept_warmstart:
            found.append(
                "the model became worse than after the warmstart, so the model after the warmstart was kept; the "
                f"latest model has an error of {known.weighted_error.percent()}"
            )
        else:
            found.append(
                "the error is larger than after the warmstart, where it was "
                f"{known.first_weighted_error.percent()}; the data may have changed on the way"
            )
    if rate > _HALF:
        found.append(
            f"{rate:.0%} of the examples were selected, so sifting saves little here: the labels are noisy, or the "
            "classes overlap; rule 'passive' learns all of them"
        )
    if known.selected and known.effective_size < _TENTH * known.selected:
        found.append(
            f"the weights are uneven: {known.selected:,} selected examples count like {known.effective_size:,.0f} of "
            f"equal weight; {'they are your own weights' if has_no_floor else 'a larger floor makes them more even'}"
        )
    return found
