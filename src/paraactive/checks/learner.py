"""Conformance checks of learners: every promise of `paraactive.learners.Learner`.

The properties are in `learner_scores`, `learner_updates` and `learner_state`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from paraactive.checks import learner_scores, learner_state, learner_updates
from paraactive.checks.learner_case import LearnerCase, LearnerProperty, MakeLearner
from paraactive.checks.properties import attempt, name_of

LearnerCheck: TypeAlias = Callable[[MakeLearner], None]


def check_learner(make: MakeLearner, *, width: int = 5, classes: int = 2, seed: int = 0, travels: bool = True) -> None:
    """Check that a learner keeps the contract of `paraactive.learners.Learner`.

    Parameters
    ----------
    make : callable
        Makes a new, untrained learner; each call makes an equal one.
    width : int, optional
        Number of features of the examples. Default: 5.
    classes : int, optional
        Number of classes of the examples. Default: 2. Check a learner of several classes with 2 and with more.
    seed : int, optional
        Seed of the examples. Default: 0.
    travels : bool, optional
        Whether the learner must be picklable. Give False for a learner that is only used on threads. Default: True.

    Raises
    ------
    CheckError
        If a property does not hold. The error names the first one.

    Examples
    --------
    >>> from paraactive import LaSVM
    >>> check_learner(lambda: LaSVM(gamma=0.5))
    >>> class Forgetful(LaSVM):
    ...     def load(self, state):
    ...         pass
    >>> check_learner(Forgetful)
    Traceback (most recent call last):
    ...
    paraactive.errors.CheckError: 'a loaded learner is the saved one' does not hold, its digest is different: a resumed
    run would continue with another model; let save return the whole state, and load restore all of it.
    """
    for _, check in learner_checks(width=width, classes=classes, seed=seed, travels=travels):
        check(make)


def learner_checks(
    *, width: int = 5, classes: int = 2, seed: int = 0, travels: bool = True
) -> list[tuple[str, LearnerCheck]]:
    """List the checks of `check_learner`, to parametrize a test.

    Parameters
    ----------
    width : int, optional
        Number of features of the examples. Default: 5.
    classes : int, optional
        Number of classes of the examples. Default: 2.
    seed : int, optional
        Seed of the examples. Default: 0.
    travels : bool, optional
        Whether the learner must be picklable. Default: True.

    Returns
    -------
    list of (str, callable)
        Name of each property, and a function of `make` that raises `CheckError` if the property does not hold.

    Examples
    --------
    >>> from paraactive import Network
    >>> for name, check in learner_checks(width=2)[:3]:
    ...     check(Network)
    ...     print(name)
    make gives a new learner each time
    equal models have equal digests
    an untrained learner gives finite scores
    """

    def bound(check: LearnerProperty) -> LearnerCheck:
        return lambda make: attempt(check, LearnerCase(make, width, seed, classes))

    return [(name_of(check), bound(check)) for check in _CHECKS if travels or check is not learner_state.it_travels]


_CHECKS: tuple[LearnerProperty, ...] = (
    learner_scores.make_gives_a_new_learner_each_time,
    learner_scores.equal_models_have_equal_digests,
    learner_scores.an_untrained_learner_gives_finite_scores,
    learner_scores.scoring_is_pure,
    learner_scores.a_score_does_not_depend_on_other_rows,
    learner_updates.updating_is_deterministic,
    learner_updates.the_grouping_of_entries_does_not_matter,
    learner_updates.ending_a_round_is_deterministic,
    learner_scores.the_digest_tells_models_apart,
    learner_state.the_saved_state_is_plain_arrays,
    learner_state.the_saved_state_is_a_copy,
    learner_state.a_loaded_learner_is_the_saved_one,
    learner_state.a_loaded_learner_learns_on_as_the_saved_one,
    learner_state.loading_is_a_copy,
    learner_scores.a_proxy_belongs_to_the_model,
    learner_state.a_deep_copy_is_equal_and_learns_apart,
    learner_state.it_travels,
    learner_updates.weights_matter,
    learner_updates.a_large_weight_leaves_scores_finite,
    learner_updates.a_description_makes_an_equal_learner,
    learner_updates.sparse_rows_keep_the_promises_too,
)
