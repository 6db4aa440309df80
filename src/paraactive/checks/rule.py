"""Conformance checks of rules: every promise of `paraactive.rules.Rule`. Each function checks one property."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from paraactive.basics.philox import RESOLUTION
from paraactive.checks.properties import attempt, name_of, random_pieces, rebuilt, require, same_bits
from paraactive.data.examples import Doubles, Ints, Labels
from paraactive.rules.base import Rule

RuleCheck: TypeAlias = Callable[[Rule], None]

_WEIGHT = "the weight of a selected example is 1/p, so p must be the exact probability"
_REPLICAS = "otherwise the log would depend on how a batch is divided among nodes"


def check_rule(rule: Rule) -> None:
    """Check that a rule keeps the contract of `paraactive.rules.Rule`.

    The rule is called with scores from -1e6 to 1e6 of two and of three classes, with all labels, and with 0 to 10**12
    examples seen.

    Parameters
    ----------
    rule : Rule
        The rule.

    Raises
    ------
    CheckError
        If a property does not hold. The error names the first one.

    Examples
    --------
    >>> from paraactive.rules import Margin
    >>> check_rule(Margin(eta=0.1))
    >>> class Keen(Margin):
    ...     def probability(self, score, seen):
    ...         return 2 * super().probability(score, seen)
    >>> check_rule(Keen())
    Traceback (most recent call last):
    ...
    paraactive.errors.CheckError: 'p is a valid probability' does not hold, p goes from 2.22e-16 to 2: the weight of
    a selected example is 1/p, so p must be the exact probability; keep p between 2**-53 and 1.
    """
    for _, check in rule_checks():
        check(rule)


def rule_checks() -> list[tuple[str, RuleCheck]]:
    """List the checks of `check_rule`, to parametrize a test.

    Returns
    -------
    list of (str, callable)
        Name of each property, and a function of the rule that raises `CheckError` if the property does not hold.

    Examples
    --------
    >>> from paraactive.rules import Passive
    >>> for name, check in rule_checks()[:2]:
    ...     check(Passive())
    ...     print(name)
    only a rule that needs labels has a parameter y
    there is one p for each example
    """

    def bound(check: RuleCheck) -> RuleCheck:
        return lambda rule: attempt(check, rule)

    return [(name_of(check), bound(check)) for check in _CHECKS]


# The properties --------------------------------------------------------------------------------------------------


def only_a_rule_that_needs_labels_has_a_parameter_y(rule: Rule) -> None:
    """`needs_labels` and `needs_scores` are booleans; `probability` has a parameter y only if labels are needed.

    Parameters
    ----------
    rule : Rule
        The rule to check.
    """
    for name in ("needs_labels", "needs_scores"):
        value = getattr(rule, name)
        require(
            isinstance(value, bool),
            f"{name} is {value!r}",
            why="it decides what the sifter computes",
            remedy=f"set {name} = True or False in the class",
        )
    has = "y" in inspect.signature(rule.probability).parameters
    require(
        has == rule.needs_labels,
        f"needs_labels is {rule.needs_labels}, and probability has {'a' if has else 'no'} parameter y",
        why="a label-blind rule must not be able to see labels, which may cost money",
        remedy="define probability(score, seen, y) if labels are needed, else probability(score, seen)",
    )


def there_is_one_p_for_each_example(rule: Rule) -> None:
    """p is a float64 array with one number for each example, also for no examples.

    Parameters
    ----------
    rule : Rule
        The rule to check.
    """
    for columns in (_grid(), _rows(_grid(), slice(0, 0)), _grid_of_three(), _rows(_grid_of_three(), slice(0, 0))):
        p = _probability(rule, columns)
        require(
            isinstance(p, np.ndarray) and p.shape == columns[1].shape and p.dtype == np.float64,  # pyright: ignore[reportUnnecessaryIsInstance]
            f"for {len(columns[0])} examples p is {getattr(p, 'dtype', type(p))} of shape {np.shape(p)}",
            why="each example has its own probability, which the log stores to the bit",
            remedy="return a float64 array as long as the scores",
        )


def p_is_a_valid_probability(rule: Rule) -> None:
    """p is at least 2**-53, the resolution of a coin, at most 1, and never NaN.

    Parameters
    ----------
    rule : Rule
        The rule to check.
    """
    p = np.concatenate([np.asarray(_probability(rule, columns)) for columns in (_grid(), _grid_of_three())])
    bad = ~((p >= RESOLUTION) & (p <= 1.0))
    require(
        not bad.any(),
        f"{np.isnan(p).sum()} of {p.size} are NaN"
        if np.isnan(p).any()
        else f"p goes from {p.min():.3g} to {p.max():.3g}",
        why=_WEIGHT,
        remedy="keep p between 2**-53 and 1",
    )


def computing_p_is_pure(rule: Rule) -> None:
    """A second call returns the same p, and the arguments do not change.

    Parameters
    ----------
    rule : Rule
        The rule to check.
    """
    columns, untouched = _grid(), _grid()
    first = np.array(_probability_as_is(rule, columns))
    changed = any(not same_bits(one, other) for one, other in zip(columns, untouched, strict=True))
    remedy = "compute p from the arguments only, and do not write to them"
    require(not changed, "it wrote to its arguments", why="the sifter logs the arguments afterwards", remedy=remedy)
    again = np.array(_probability(rule, _grid()))
    require(same_bits(first, again), "a second call returned another p", why=_WEIGHT, remedy=remedy)


def p_does_not_depend_on_other_examples(rule: Rule) -> None:
    """The p of an example has the same bits, whichever examples are in the same call.

    Parameters
    ----------
    rule : Rule
        The rule to check.
    """
    for columns in (_grid(), _grid_of_three()):
        whole, rng, count = np.asarray(_probability(rule, columns)), np.random.default_rng(0), len(columns[1])
        orders = [[slice(row, row + 1) for row in range(count)], *(list(random_pieces(count, rng)) for _ in range(3))]
        for pieces in orders:
            joined = np.concatenate([np.asarray(_probability(rule, _rows(columns, rows))) for rows in pieces])
            require(
                same_bits(whole, joined),
                f"p differs in {len(pieces)} smaller calls",
                why=_REPLICAS,
                remedy="compute p elementwise, with no mean, maximum or rank over the batch",
            )


def scores_that_are_not_needed_are_ignored(rule: Rule) -> None:
    """If `needs_scores` is False, p is the same for every score.

    Parameters
    ----------
    rule : Rule
        The rule to check.
    """
    if rule.needs_scores:
        return
    score, seen, y = _grid()
    p, without_score = _probability(rule, (score, seen, y)), _probability(rule, (np.zeros_like(score), seen, y))
    require(
        same_bits(np.asarray(p), np.asarray(without_score)),
        "needs_scores is False, and p depends on the score",
        why="the sifter then computes no scores and passes zeros",
        remedy="set needs_scores = True",
    )


def a_description_makes_an_equal_rule(rule: Rule) -> None:
    """If there is `describe`, its parameters make a rule that returns the same p.

    Parameters
    ----------
    rule : Rule
        The rule to check.
    """
    twin = rebuilt(rule)
    if twin is None:
        return
    require(
        same_bits(np.asarray(_probability(twin, _grid())), np.asarray(_probability(rule, _grid()))),
        f"a rule made from {rule.describe()} returns another p",
        why="a run file stores the description, to make the rule again",
        remedy="let describe return all parameters of the constructor",
    )


def it_travels(rule: Rule) -> None:
    """A rule can be pickled, and its unpickled copy returns the same p.

    Parameters
    ----------
    rule : Rule
        The rule to check.
    """
    try:
        arrived: Rule = pickle.loads(pickle.dumps(rule))
    except Exception as error:  # Pickling a foreign class may raise anything.
        require(
            False,
            f"it cannot be pickled ({error})",
            why="nodes in other processes receive a pickled rule",
            remedy="define the class in a module, and keep functions and handles out of it",
        )
        raise
    require(
        same_bits(np.asarray(_probability(arrived, _grid())), np.asarray(_probability(rule, _grid()))),
        "its unpickled copy returns another p",
        why=_REPLICAS,
        remedy="let pickling keep all parameters",
    )


# The arguments of the calls ---------------------------------------------------------------------------------------

_Columns: TypeAlias = tuple[Doubles, Ints, Labels]


def _grid() -> _Columns:
    """Return every score with every n and both labels, in new arrays, because a rule may write to them."""
    size = np.concatenate([[0.0, 1e-300, 1e-9, 1e-3, 1.0, 1e3, 1e6], np.random.default_rng(0).gamma(1.0, 1.0, 20)])
    seen = np.array([0, 1, 2, 10, 1000, 10**6, 10**9, 10**12], np.int64)
    scores, counts, labels = np.meshgrid(np.concatenate([-size, size]), seen, np.array([-1, 1], np.int8))
    return scores.ravel(), counts.ravel(), labels.ravel()


def _grid_of_three() -> _Columns:
    """Return examples of three classes: a score has three numbers, and labels are 0, 1 and 2."""
    rng = np.random.default_rng(1)
    score = rng.normal(size=(60, 3)) * rng.choice([1e-9, 1.0, 1e3, 1e6], (60, 1))
    score[:3] = 0.0, 5.0, -5.0  # Ties.
    seen, number = np.meshgrid(np.array([0, 1, 1000, 10**12], np.int64), np.arange(len(score)))
    return score[number.ravel()], seen.ravel(), (np.arange(number.size) % 3).astype(np.int8)


def _rows(columns: _Columns, rows: slice) -> _Columns:
    score, seen, y = columns
    return score[rows], seen[rows], y[rows]


def _probability(rule: Rule, columns: _Columns) -> Doubles:
    score, seen, y = columns
    return _probability_as_is(rule, (score.copy(), seen.copy(), y.copy()))


def _probability_as_is(rule: Rule, columns: _Columns) -> Doubles:
    score, seen, y = columns
    return rule.probability(score, seen, y) if rule.needs_labels is True else rule.probability(score, seen)


_CHECKS: tuple[RuleCheck, ...] = (
    only_a_rule_that_needs_labels_has_a_parameter_y,
    there_is_one_p_for_each_example,
    p_is_a_valid_probability,
    computing_p_is_pure,
    p_does_not_depend_on_other_examples,
    scores_that_are_not_needed_are_ignored,
    a_description_makes_an_equal_rule,
    it_travels,
)
