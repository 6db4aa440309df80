"""Properties of a learner's saved state, its copies and its pickles. The name of each function states a property."""

from __future__ import annotations

import copy
import pickle

import numpy as np

from paraactive.basics.state import State, digest
from paraactive.checks.learner_case import LearnerCase
from paraactive.checks.properties import require, same_bits
from paraactive.learners.base import Learner


def the_saved_state_is_plain_arrays(case: LearnerCase) -> None:
    """`save` returns numpy arrays by name, without objects, before and after learning.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    for learner in (case.make(), case.trained()):
        for name, array in learner.save().items():
            plain = isinstance(name, str) and isinstance(array, np.ndarray) and not array.dtype.hasobject  # pyright: ignore[reportUnnecessaryIsInstance]
            require(
                plain,
                f"{name!r} is {f'an array of {array.dtype}' if hasattr(array, 'dtype') else type(array).__name__}",
                why="a snapshot is read without pickle, which could run code",
                remedy="save numbers, booleans and strings as numpy arrays, with strings as names",
            )


def the_saved_state_is_a_copy(case: LearnerCase) -> None:
    """Learning does not change a saved state, and changing the state does not change the model.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    learner = case.trained()
    state = learner.save()
    before = digest(state)
    learner.update(case.rest)
    learner.end_round()
    remedy = "copy the arrays in save"
    concurrent = "a snapshot is written while the learner learns"
    require(digest(state) == before, "further learning changed the saved state", why=concurrent, remedy=remedy)
    own = digest(learner.save())
    _overwrite(learner.save())
    owner = "the caller may change the state"
    require(digest(learner.save()) == own, "changing the saved state changed the model", why=owner, remedy=remedy)


def _overwrite(state: State) -> None:
    for array in state.values():
        if array.flags.writeable:
            array[...] = np.zeros((), array.dtype) if array.any() else np.ones((), array.dtype)


def a_loaded_learner_is_the_saved_one(case: LearnerCase) -> None:
    """A new learner that loads a saved state has the digest and the scores of the saved one.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    why = "a resumed run would continue with another model"
    remedy = "let save return the whole state, and load restore all of it"
    for saved in (case.make(), case.trained()):
        loaded = case.loaded(saved)
        require(loaded.digest() == saved.digest(), "its digest is different", why=why, remedy=remedy)
        same = same_bits(loaded.score(case.x), saved.score(case.x))
        require(same, "its scores are different", why=why, remedy=remedy)


def a_loaded_learner_learns_on_as_the_saved_one(case: LearnerCase) -> None:
    """The loaded and the saved learner stay equal if both learn the same examples and rounds.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    for saved in (case.make(), case.trained()):
        loaded = case.loaded(saved)
        for learner in (saved, loaded):
            learner.update(case.rest)
            learner.end_round()
        require(
            loaded.digest() == saved.digest(),
            "the two differ after further learning",
            why="a resumed run, or a node that joins, would end with another model",
            remedy="save everything that learning needs, such as step sizes, counts and averages",
        )


def loading_is_a_copy(case: LearnerCase) -> None:
    """Further learning does not change the state that the learner was loaded from.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    state, learner = case.trained().save(), case.make()
    before = digest(state)
    learner.load(state)
    learner.update(case.rest)
    learner.end_round()
    require(
        digest(state) == before,
        "further learning changed the state that was loaded",
        why="several replicas are loaded from one snapshot",
        remedy="copy the arrays in load",
    )


def a_deep_copy_is_equal_and_learns_apart(case: LearnerCase) -> None:
    """`copy.deepcopy` returns an equal learner, which shares no state with the original.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    learner = case.trained()
    before, twin = digest(learner.save()), copy.deepcopy(learner)
    why = "engines keep a second model, which learns while the first one sifts"
    remedy = "let copy.deepcopy copy the whole state"
    require(twin.digest() == learner.digest(), "the digest of the copy is different", why=why, remedy=remedy)
    twin.update(case.rest)
    require(digest(learner.save()) == before, "the copy learned, and the original changed", why=why, remedy=remedy)
    learner.update(case.rest)
    require(twin.digest() == learner.digest(), "the copy learns differently", why=why, remedy=remedy)


def it_travels(case: LearnerCase) -> None:
    """A learner can be pickled, trained or not; the unpickled copy is equal and learns the same.

    Parameters
    ----------
    case : LearnerCase
        The learner to check, and its examples.
    """
    why, remedy = (
        "nodes receive a pickled learner",
        "keep objects that cannot be pickled out of it, or give travels=False",
    )
    for learner in (case.make(), case.trained()):
        try:
            arrived: Learner = pickle.loads(pickle.dumps(learner))
        except Exception as error:  # Pickling a foreign class may raise anything.
            engine = "the engine 'processes' pickles the learner"
            require(False, f"it cannot be pickled ({error})", why=engine, remedy=remedy)
            raise
        require(arrived.digest() == learner.digest(), "its unpickled copy has another digest", why=why, remedy=remedy)
        for each in (learner, arrived):
            each.update(case.rest)
            each.end_round()
        require(arrived.digest() == learner.digest(), "its unpickled copy learns differently", why=why, remedy=remedy)
