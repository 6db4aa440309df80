"""Properties of a learner's scores, digest and proxy. The name of each function states a property."""

from __future__ import annotations

import numpy as np

from paraactive.basics.state import digest
from paraactive.checks.learner_case import REPLICAS, ROWS, LearnerCase
from paraactive.checks.properties import random_pieces, require, same_bits
from paraactive.data.labels import score_shape
from paraactive.learners.base import proxy_of

_METHODS = ("score", "update", "end_round", "save", "load", "digest")


def make_gives_a_new_learner_each_time(case: LearnerCase) -> None:
    """Two calls of `make` return two objects, which have all methods of the contract.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    one, other = case.make(), case.make()
    missing = [name for name in _METHODS if not callable(getattr(one, name, None))]
    require(
        not missing, f"it has no {', '.join(missing)}", why="a learner needs these methods", remedy="define the methods"
    )
    require(
        one is not other,
        "make returned the same object twice",
        why="the checks compare learners that are trained separately",
        remedy="let make construct a new learner in each call",
    )


def equal_models_have_equal_digests(case: LearnerCase) -> None:
    """Learners of equal state have equal digests, which are strings.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    why = "replicas are compared by their digests"
    remedy = "compute the digest from the saved state only, as paraactive.basics.state.digest does"
    one, other = case.make(), case.make()
    require(isinstance(one.digest(), str), "the digest is not a string", why=why, remedy=remedy)  # pyright: ignore[reportUnnecessaryIsInstance]
    require(one.digest() == other.digest(), "two untrained learners have different digests", why=why, remedy=remedy)
    one, other = case.trained(), case.trained()
    if digest(one.save()) == digest(other.save()):
        require(one.digest() == other.digest(), "two equal learners have different digests", why=why, remedy=remedy)


def an_untrained_learner_gives_finite_scores(case: LearnerCase) -> None:
    """Before any update, `score` returns a finite float64 score for each row, also for no rows.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    why, remedy = "nodes may sift before anything was learned", "return zeros, float64, one for each row"
    score = case.make().score(case.x)
    shape = score_shape(ROWS, case.classes)
    require(score.shape == shape, f"the scores have shape {score.shape}, not {shape}", why=why, remedy=remedy)
    require(score.dtype == np.float64, f"the scores are {score.dtype}", why=why, remedy=remedy)
    require(np.isfinite(score).all(), "some scores are not finite", why=why, remedy=remedy)
    for learner in (case.make(), case.trained()):
        none = learner.score(case.x[:0])
        shape = score_shape(0, case.classes)
        require(none.shape == shape, f"the scores of no rows have shape {none.shape}", why=why, remedy=remedy)


def scoring_is_pure(case: LearnerCase) -> None:
    """Scoring changes neither the model nor the rows, and a second call returns the same.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    learner, rows = case.trained(), case.x.copy()
    before, first = learner.digest(), learner.score(rows).copy()
    again = learner.score(rows)
    remedy = "let score write to nothing but its result"
    require(learner.digest() == before, "the digest changed", why=REPLICAS, remedy=remedy)
    require(same_bits(first, again), "a second call returned other scores", why=REPLICAS, remedy=remedy)
    require(same_bits(rows, case.x), "the rows were changed", why="the rows belong to the stream", remedy=remedy)


def a_score_does_not_depend_on_other_rows(case: LearnerCase) -> None:
    """The score of a row has the same bits, whichever rows are scored in the same call.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    why = "otherwise the log would depend on how a batch is divided among nodes"
    remedy = "use no matrix product whose bits depend on its shape; see paraactive.learners.simd.blocks"
    learner, rng = case.trained(), np.random.default_rng(case.seed)
    whole = learner.score(case.x)
    for _ in range(4):
        pieces = [learner.score(case.x[rows]) for rows in random_pieces(ROWS, rng)]
        require(same_bits(whole, np.concatenate(pieces)), "scores differ in smaller calls", why=why, remedy=remedy)
    order = rng.permutation(ROWS)
    shuffled = learner.score(np.ascontiguousarray(case.x[order]))
    require(same_bits(whole[order], shuffled), "scores differ in another order of rows", why=why, remedy=remedy)
    single = np.concatenate([learner.score(case.x[row : row + 1]) for row in range(ROWS)])
    require(same_bits(whole, single), "scores differ row by row", why=why, remedy=remedy)


def a_proxy_belongs_to_the_model(case: LearnerCase) -> None:
    """A `Proxy` scores row by row, changes nothing, and is the same on every replica.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    why, remedy = "the proxy takes part in the selection on every node", "make the proxy from the saved state only"
    learner, other = case.make(), case.make()
    learner.update(case.examples)
    learner.end_round()
    proxy = proxy_of(learner)
    if proxy is None:
        return
    before, whole = learner.digest(), proxy.score(case.x)
    shape = score_shape(ROWS, case.classes)
    same_shape = "return scores of the same shape as those of score"
    require(whole.shape == shape, f"its scores have shape {whole.shape}, not {shape}", why=why, remedy=same_shape)
    require(np.isfinite(whole).all(), "some of its scores are not finite", why=why, remedy="return finite numbers")
    require(
        0 <= proxy.error_bound < np.inf,
        f"its error bound is {proxy.error_bound}",
        why="the error bound is a distance between scores",
        remedy=remedy,
    )
    cost = "its unit is the cost of an exact score"
    require(0 < proxy.cost < np.inf, f"its cost is {proxy.cost}", why=cost, remedy="give a number above 0")
    single = np.concatenate([proxy.score(case.x[row : row + 1]) for row in range(ROWS)])
    require(same_bits(whole, single), "scores differ row by row", why=why, remedy="score each row by itself")
    require(learner.digest() == before, "the digest changed", why=REPLICAS, remedy="let the proxy write to nothing")
    other.load(learner.save())
    loaded = proxy_of(other)
    require(loaded is not None, "a loaded learner has no proxy", why=why, remedy=remedy)
    assert loaded is not None
    require(
        (loaded.error_bound, loaded.cost) == (proxy.error_bound, proxy.cost) and same_bits(whole, loaded.score(case.x)),
        "a loaded learner has a different proxy",
        why=why,
        remedy=remedy,
    )


def the_digest_tells_models_apart(case: LearnerCase) -> None:
    """Models with different scores have different digests.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    light, heavy = case.make(), case.make()
    light.update(case.first)
    heavy.update(case.examples)
    models = [case.make(), light, heavy]
    for number, one in enumerate(models):
        for other in models[:number]:
            require(
                one.digest() != other.digest() or same_bits(one.score(case.x), other.score(case.x)),
                "two models with different scores have the same digest",
                why="a replica that differs would not be noticed",
                remedy="compute the digest from the whole saved state, as paraactive.basics.state.digest does",
            )
