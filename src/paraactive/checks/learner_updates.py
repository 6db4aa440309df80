"""Properties of a learner's updates. The name of each function states a property."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from paraactive.checks.learner_case import HALF, REPLICAS, ROWS, LearnerCase
from paraactive.checks.properties import random_pieces, rebuilt, require, same_bits
from paraactive.data.examples import Selected, SparseRows
from paraactive.data.labels import labels_of
from paraactive.learners.base import capabilities_of


def updating_is_deterministic(case: LearnerCase) -> None:
    """Two new learners that learn the same examples become equal.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    require(
        case.trained().digest() == case.trained().digest(),
        "two learners learned the same examples and differ",
        why=REPLICAS,
        remedy="draw random numbers from a seed that is a parameter, and keep all state in the learner",
    )


def the_grouping_of_entries_does_not_matter(case: LearnerCase) -> None:
    """One update gives the same bits as updates on its pieces, wherever the examples are cut.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    whole, rng = case.make(), np.random.default_rng(case.seed)
    whole.update(case.examples)
    cuts = [list(random_pieces(ROWS, rng)) for _ in range(4)] + [[slice(row, row + 1) for row in range(ROWS)]]
    for pieces in cuts:
        learner = case.make()
        for rows in pieces:
            learner.update(case.examples.take(rows))
        require(
            learner.digest() == whole.digest(),
            f"{len(pieces)} updates on pieces gave another model than one update",
            why="entries are grouped differently on other nodes and in a resumed run",
            remedy="learn example by example, and do work that is due once per round in end_round",
        )


def ending_a_round_is_deterministic(case: LearnerCase) -> None:
    """Two equal learners are equal after `end_round`, and after a second `end_round`.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    one, other = case.trained(), case.trained()
    for _ in range(2):
        one.end_round()
        other.end_round()
        require(
            one.digest() == other.digest(),
            "two equal learners differ after end_round",
            why=REPLICAS,
            remedy="let end_round depend on the model only, not on a clock or a random state",
        )


def weights_matter(case: LearnerCase) -> None:
    """Examples with large weights change the model more than examples of weight 1.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    # Each row has both labels. A hard-margin model of separable classes need not depend on weights.
    number = np.tile([1, 0], HALF)
    x, y = np.repeat(case.x[:HALF], 2, axis=0), labels_of(number, case.classes)
    light, heavy = case.make(), case.make()
    light.update(Selected.weighted(x, y, 1.0))
    heavy.update(Selected.weighted(x, y, np.where(number > 0, 20.0, 1.0)))
    for learner in (light, heavy):
        learner.end_round()  # A learner may hold examples back until the round ends.
    require(
        not np.array_equal(light.score(case.x), heavy.score(case.x)),
        "examples of weight 20 gave the same model as examples of weight 1",
        why="without the weight 1/p, learning from selected examples is biased",
        remedy="use selected.weight in update",
    )


def a_large_weight_leaves_scores_finite(case: LearnerCase) -> None:
    """After examples of weight 10 000 all scores are still finite.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    weight = np.ones(ROWS)
    weight[::10] = 1e4
    learner = case.make()
    learner.update(Selected.weighted(case.x, case.examples.examples.y, weight))
    learner.end_round()
    require(
        np.isfinite(learner.score(case.x)).all(),
        "some scores are not finite",
        why="rules select some examples with p = 0.0001, and sifting rejects scores that are not finite",
        remedy="limit the step that one example can cause",
    )


def a_description_makes_an_equal_learner(case: LearnerCase) -> None:
    """If there is `describe`, its parameters make a learner that learns the same.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    learner = case.make()
    twin = rebuilt(learner)
    if twin is None:
        return
    for each in (learner, twin):
        each.update(case.examples)
        each.end_round()
    require(
        twin.digest() == learner.digest(),
        f"a learner made from {learner.describe()} learns differently",
        why="a run file stores the description, to make the learner again",
        remedy="let describe return all parameters of the constructor",
    )


def sparse_rows_keep_the_promises_too(case: LearnerCase) -> None:
    """A learner of sparse rows keeps the promises on grouping, other rows and saved states.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    if not capabilities_of(case.make()).sparse:
        return
    dense = case.examples.examples
    rows = SparseRows.of(np.where(np.abs(dense.x) < 1.0, np.float32(0), dense.x))
    examples = replace(case.examples, examples=replace(dense, x=rows))
    learner, rng = case.make(), np.random.default_rng(case.seed)
    learner.update(examples.take(slice(0, HALF)))
    whole = learner.score(rows)  # pyright: ignore[reportArgumentType]
    pieces = [learner.score(rows[cut]) for cut in random_pieces(ROWS, rng)]  # pyright: ignore[reportArgumentType]
    remedy = "let the result for a sparse row depend on the row and the model only, or do not declare sparse = True"
    require(same_bits(whole, np.concatenate(pieces)), "scores differ in smaller calls", why=REPLICAS, remedy=remedy)
    other = case.make()
    for cut in random_pieces(HALF, rng):
        other.update(examples.take(cut))
    require(other.digest() == learner.digest(), "updates on pieces gave another model", why=REPLICAS, remedy=remedy)
    loaded = case.loaded(learner)
    for each in (learner, loaded):
        each.update(examples.take(slice(HALF, None)))
        each.end_round()
    require(loaded.digest() == learner.digest(), "a loaded learner learns differently", why=REPLICAS, remedy=remedy)
