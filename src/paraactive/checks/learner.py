"""What every learner promises (`learners/base.py`), as checks: one function for each property."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from paraactive.basics.state import State, digest, pack, unpack
from paraactive.checks.properties import attempt, name_of, random_pieces, rebuilt, require, same_bits
from paraactive.data.examples import Floats, Selected, SparseRows
from paraactive.data.labels import labels_of, score_shape
from paraactive.learners.base import Learner, capabilities_of, proxy_of

MakeLearner: TypeAlias = Callable[[], Learner]
LearnerCheck: TypeAlias = Callable[[MakeLearner], None]

_ROWS = 200
_HALF = 120
"""Where a run of examples is cut in two; not a round number of anything."""
_METHODS = ("score", "update", "end_round", "save", "load", "digest")
_REPLICAS = "nodes apply the log each in its own way, and their models must agree to the bit"


@dataclass(frozen=True)
class _Case:
    """The learner to be checked, and what it is checked with."""

    given: MakeLearner
    width: int
    seed: int
    classes: int

    @cached_property
    def examples(self) -> Selected:
        """Classes that overlap, with weights 1 to 20."""
        rng = np.random.default_rng(self.seed)
        number = rng.integers(0, self.classes, _ROWS)
        centres = rng.normal(scale=1.5, size=(self.classes, self.width))
        x = rng.normal(size=(_ROWS, self.width)) + centres[number]
        return Selected.weighted(x.astype(np.float32), labels_of(number, self.classes), rng.uniform(1.0, 20.0, _ROWS))

    def make(self) -> Learner:
        """A new learner, told how many classes there are, as a run tells it."""
        learner = self.given()
        if capabilities_of(learner).classes is None:
            learner.classes = self.classes  # pyright: ignore[reportAttributeAccessIssue]
        return learner

    @property
    def x(self) -> Floats:
        return self.examples.examples.x

    def first(self) -> Selected:
        return self.examples.take(slice(0, _HALF))

    def rest(self) -> Selected:
        return self.examples.take(slice(_HALF, None))

    def trained(self) -> Learner:
        """A new learner that has learnt the first part."""
        learner = self.make()
        learner.update(self.first())
        return learner


def check_learner(make: MakeLearner, *, width: int = 5, classes: int = 2, seed: int = 0, travels: bool = True) -> None:
    """Raise `CheckError` unless the learners that `make` gives keep the contract of `paraactive.learners.Learner`.

    Parameters
    ----------
    make : gives a new, untrained learner, each time the same.
    width : features of the examples that it is tried on.
    classes : of these examples; try 2 and more, if the learner can tell more.
    seed : of these examples.
    travels : False for a learner that need not be sent to other processes, because it runs on threads only.

    >>> from paraactive import LaSVM
    >>> check_learner(lambda: LaSVM(gamma=0.5))
    >>> class Forgetful(LaSVM):
    ...     def load(self, state):
    ...         pass
    >>> check_learner(Forgetful)
    Traceback (most recent call last):
    ...
    paraactive.errors.CheckError: 'a loaded learner is the saved one' does not hold, its digest is another: a run that
    is resumed would go on with another model; let save give all of the state, and load take all of it.
    """
    for _, check in learner_checks(width=width, classes=classes, seed=seed, travels=travels):
        check(make)


def learner_checks(
    *, width: int = 5, classes: int = 2, seed: int = 0, travels: bool = True
) -> list[tuple[str, LearnerCheck]]:
    """All properties of a learner by name, in the order in which `check_learner` tries them.

    >>> from paraactive import Network
    >>> for name, check in learner_checks(width=2)[:3]:
    ...     check(Network)
    ...     print(name)
    make gives a new learner each time
    equal models have equal digests
    an untrained learner gives finite scores
    """

    def bound(check: Callable[[_Case], None]) -> LearnerCheck:
        return lambda make: attempt(check, _Case(make, width, seed, classes))

    return [(name_of(check), bound(check)) for check in _CHECKS if travels or check is not it_travels]


# The properties --------------------------------------------------------------------------------------------------


def make_gives_a_new_learner_each_time(case: _Case) -> None:
    """Two calls of `make` give two learners, with all methods of the contract."""
    one, other = case.make(), case.make()
    missing = [name for name in _METHODS if not callable(getattr(one, name, None))]
    require(not missing, f"it has no {', '.join(missing)}", why="a learner has them", remedy="write them")
    require(
        one is not other,
        "it gave the same object twice",
        why="the checks compare learners that learn apart",
        remedy="let make construct a learner each time it is called",
    )


def equal_models_have_equal_digests(case: _Case) -> None:
    """Learners of equal state have equal digests, which are strings."""
    why = "replicas are compared by their digests"
    remedy = "derive the digest from the saved state alone, as paraactive.basics.state.digest does"
    one, other = case.make(), case.make()
    require(isinstance(one.digest(), str), "the digest is no string", why=why, remedy=remedy)  # pyright: ignore[reportUnnecessaryIsInstance]
    require(one.digest() == other.digest(), "those of two untrained learners differ", why=why, remedy=remedy)
    one, other = case.trained(), case.trained()
    if digest(one.save()) == digest(other.save()):
        require(one.digest() == other.digest(), "those of two equal learners differ", why=why, remedy=remedy)


def an_untrained_learner_gives_finite_scores(case: _Case) -> None:
    """Before any update there is a score for each row, finite and float64; and none for no rows."""
    why, remedy = "sifting may begin before anything was learnt", "return zeros, float64, as long as there are rows"
    score = case.make().score(case.x)
    shape = score_shape(_ROWS, case.classes)
    require(score.shape == shape, f"the scores have shape {score.shape}, not {shape}", why=why, remedy=remedy)
    require(score.dtype == np.float64, f"the scores are {score.dtype}", why=why, remedy=remedy)
    require(np.isfinite(score).all(), "some scores are not finite", why=why, remedy=remedy)
    for learner in (case.make(), case.trained()):
        none = learner.score(case.x[:0])
        shape = score_shape(0, case.classes)
        require(none.shape == shape, f"the scores of no rows have shape {none.shape}", why=why, remedy=remedy)


def scoring_is_pure(case: _Case) -> None:
    """Scoring does not change the model, nor the rows, and twice gives the same."""
    learner, rows = case.trained(), case.x.copy()
    before, first = learner.digest(), learner.score(rows).copy()
    again = learner.score(rows)
    remedy = "let score write to nothing but its result"
    require(learner.digest() == before, "the digest changed", why=_REPLICAS, remedy=remedy)
    require(same_bits(first, again), "the second time gave other scores", why=_REPLICAS, remedy=remedy)
    require(same_bits(rows, case.x), "the rows were changed", why="they are the stream's", remedy=remedy)


def a_score_does_not_depend_on_other_rows(case: _Case) -> None:
    """A row's score is the same, bit for bit, whatever rows it is scored with."""
    why = "the log would depend on how a batch is cut among nodes"
    remedy = "use no matrix product whose bits depend on its shape; see paraactive.learners.simd.blocks"
    learner, rng = case.trained(), np.random.default_rng(case.seed)
    whole = learner.score(case.x)
    for _ in range(4):
        pieces = [learner.score(case.x[rows]) for rows in random_pieces(_ROWS, rng)]
        require(same_bits(whole, np.concatenate(pieces)), "pieces got other scores", why=why, remedy=remedy)
    order = rng.permutation(_ROWS)
    shuffled = learner.score(np.ascontiguousarray(case.x[order]))
    require(same_bits(whole[order], shuffled), "another order of rows gave other scores", why=why, remedy=remedy)
    single = np.concatenate([learner.score(case.x[row : row + 1]) for row in range(_ROWS)])
    require(same_bits(whole, single), "single rows got other scores", why=why, remedy=remedy)


def a_proxy_belongs_to_the_model(case: _Case) -> None:
    """If the learner offers a `Proxy`: it scores row by row, changes nothing, and is the same on every replica."""
    why, remedy = "what is selected depends on it, on every node", "make it from the saved state alone"
    learner, other = case.make(), case.make()
    learner.update(case.examples)
    learner.end_round()
    proxy = proxy_of(learner)
    if proxy is None:
        return
    before, whole = learner.digest(), proxy.score(case.x)
    shape = score_shape(_ROWS, case.classes)
    require(whole.shape == shape, f"its scores have shape {whole.shape}, not {shape}", why=why, remedy="as score has")
    require(np.isfinite(whole).all(), "some of its scores are not finite", why=why, remedy="return finite numbers")
    require(
        0 <= proxy.error_bound < np.inf,
        f"its error bound is {proxy.error_bound}",
        why="it says how far scores are off",
        remedy=remedy,
    )
    require(0 < proxy.cost < np.inf, f"its cost is {proxy.cost}", why="1 is that of an exact score", remedy="count it")
    single = np.concatenate([proxy.score(case.x[row : row + 1]) for row in range(_ROWS)])
    require(same_bits(whole, single), "single rows got other scores", why=why, remedy="score row by row")
    require(learner.digest() == before, "the digest changed", why=_REPLICAS, remedy="let it write to nothing")
    other.load(learner.save())
    loaded = proxy_of(other)
    require(loaded is not None, "a loaded learner has none", why=why, remedy=remedy)
    assert loaded is not None
    require(
        (loaded.error_bound, loaded.cost) == (proxy.error_bound, proxy.cost) and same_bits(whole, loaded.score(case.x)),
        "that of a loaded learner is another",
        why=why,
        remedy=remedy,
    )


def updating_is_deterministic(case: _Case) -> None:
    """Two new learners that are given the same examples become equal."""
    require(
        case.trained().digest() == case.trained().digest(),
        "two learners learnt the same and differ",
        why=_REPLICAS,
        remedy="draw random numbers from a seed that is a parameter, and keep no state outside of the learner",
    )


def the_grouping_of_entries_does_not_matter(case: _Case) -> None:
    """Update on a run of examples equals update on its pieces, bit for bit, wherever it is cut."""
    whole, rng = case.make(), np.random.default_rng(case.seed)
    whole.update(case.examples)
    cuts = [list(random_pieces(_ROWS, rng)) for _ in range(4)] + [[slice(row, row + 1) for row in range(_ROWS)]]
    for pieces in cuts:
        learner = case.make()
        for rows in pieces:
            learner.update(case.examples.take(rows))
        require(
            learner.digest() == whole.digest(),
            f"cut into {len(pieces)} pieces they gave another model",
            why="entries arrive in other groups on other nodes, and when a run is resumed",
            remedy="learn example by example, and do nothing once a call; end_round is for that",
        )


def ending_a_round_is_deterministic(case: _Case) -> None:
    """Two equal learners are equal after the end of a round, and of the next."""
    one, other = case.trained(), case.trained()
    for _ in range(2):
        one.end_round()
        other.end_round()
        require(
            one.digest() == other.digest(),
            "two equal learners differ after end_round",
            why=_REPLICAS,
            remedy="let end_round depend on the model alone, on no clock and no random state",
        )


def the_digest_tells_models_apart(case: _Case) -> None:
    """Models that score otherwise have other digests."""
    light, heavy = case.make(), case.make()
    light.update(case.first())
    heavy.update(case.examples)
    models = [case.make(), light, heavy]
    for number, one in enumerate(models):
        for other in models[:number]:
            require(
                one.digest() != other.digest() or same_bits(one.score(case.x), other.score(case.x)),
                "two models that score otherwise have one digest",
                why="a replica that differs would not be noticed",
                remedy="take the digest over the whole saved state, as paraactive.basics.state.digest does",
            )


def the_saved_state_is_plain_arrays(case: _Case) -> None:
    """`save` gives numpy arrays by name, and no objects, before and after learning."""
    for learner in (case.make(), case.trained()):
        for name, array in learner.save().items():
            plain = isinstance(name, str) and isinstance(array, np.ndarray) and not array.dtype.hasobject  # pyright: ignore[reportUnnecessaryIsInstance]
            require(
                plain,
                f"{name!r} is {f'an array of {array.dtype}' if hasattr(array, 'dtype') else type(array).__name__}",
                why="a snapshot is read without pickle, which would run code",
                remedy="save numbers, booleans and strings as numpy arrays, under names that are strings",
            )


def the_saved_state_is_a_copy(case: _Case) -> None:
    """What was saved does not change when the learner learns on, nor the learner when it is changed."""
    learner = case.trained()
    state = learner.save()
    before = digest(state)
    learner.update(case.rest())
    learner.end_round()
    remedy = "copy the arrays in save"
    require(
        digest(state) == before, "learning on changed it", why="a snapshot is written while learning", remedy=remedy
    )
    own = digest(learner.save())
    _spoil(learner.save())
    require(digest(learner.save()) == own, "changing it changed the model", why="it is given away", remedy=remedy)


def a_loaded_learner_is_the_saved_one(case: _Case) -> None:
    """A new learner that loads what another saved, trained or not, has its digest and its scores."""
    why = "a run that is resumed would go on with another model"
    remedy = "let save give all of the state, and load take all of it"
    for saved in (case.make(), case.trained()):
        loaded = _loaded(case, saved)
        require(loaded.digest() == saved.digest(), "its digest is another", why=why, remedy=remedy)
        require(same_bits(loaded.score(case.x), saved.score(case.x)), "its scores are others", why=why, remedy=remedy)


def a_loaded_learner_learns_on_as_the_saved_one(case: _Case) -> None:
    """Both end in the same model if they go on with the same examples and rounds."""
    for saved in (case.make(), case.trained()):
        loaded = _loaded(case, saved)
        for learner in (saved, loaded):
            learner.update(case.rest())
            learner.end_round()
        require(
            loaded.digest() == saved.digest(),
            "the two differ after learning on",
            why="a run that is resumed, or a node that joins, would end in another model",
            remedy="save also what only learning needs, such as step sizes, counts and averages",
        )


def loading_is_a_copy(case: _Case) -> None:
    """A learner that learns on does not change the state that it was loaded from."""
    state, learner = case.trained().save(), case.make()
    before = digest(state)
    learner.load(state)
    learner.update(case.rest())
    learner.end_round()
    require(
        digest(state) == before,
        "learning on changed what had been loaded",
        why="several replicas are loaded from one snapshot",
        remedy="copy the arrays in load",
    )


def a_deep_copy_is_equal_and_learns_apart(case: _Case) -> None:
    """copy.deepcopy gives an equal learner; what one learns the other does not know."""
    learner = case.trained()
    before, twin = digest(learner.save()), copy.deepcopy(learner)
    why, remedy = "engines keep a second model to learn while the first sifts", "let copy.deepcopy copy the whole state"
    require(twin.digest() == learner.digest(), "the copy's digest is another", why=why, remedy=remedy)
    twin.update(case.rest())
    require(digest(learner.save()) == before, "the copy learnt, and the original changed", why=why, remedy=remedy)
    learner.update(case.rest())
    require(twin.digest() == learner.digest(), "the copy learns otherwise", why=why, remedy=remedy)


def it_travels(case: _Case) -> None:
    """A learner can be pickled, trained or not; what arrives is equal, and learns the same."""
    why, remedy = "nodes are sent a learner", "keep what cannot be pickled out of it, or give travels=False"
    for learner in (case.make(), case.trained()):
        try:
            arrived: Learner = pickle.loads(pickle.dumps(learner))
        except Exception as error:  # Whatever a class says to being pickled.
            require(False, f"it cannot be pickled ({error})", why="engine processes need it", remedy=remedy)
            raise
        require(arrived.digest() == learner.digest(), "what arrives has another digest", why=why, remedy=remedy)
        for each in (learner, arrived):
            each.update(case.rest())
            each.end_round()
        require(arrived.digest() == learner.digest(), "what arrives learns otherwise", why=why, remedy=remedy)


def weights_matter(case: _Case) -> None:
    """A weight moves the model otherwise than weight 1."""
    # Each row with two labels: where classes can be separated, a model of hard margins need not know weights.
    number = np.tile([1, 0], _HALF)
    x, y = np.repeat(case.x[:_HALF], 2, axis=0), labels_of(number, case.classes)
    light, heavy = case.make(), case.make()
    light.update(Selected.weighted(x, y, 1.0))
    heavy.update(Selected.weighted(x, y, np.where(number > 0, 20.0, 1.0)))
    require(
        not np.array_equal(light.score(case.x), heavy.score(case.x)),
        "examples of weight 20 gave the model of weight 1",
        why="without the weight 1/p what is learnt from the selected is biased",
        remedy="use selected.weight in update",
    )


def a_large_weight_leaves_scores_finite(case: _Case) -> None:
    """After examples of weight 10 000 scores are finite still."""
    weight = np.ones(_ROWS)
    weight[::10] = 1e4
    learner = case.make()
    learner.update(Selected.weighted(case.x, case.examples.examples.y, weight))
    learner.end_round()
    require(
        np.isfinite(learner.score(case.x)).all(),
        "they are not",
        why="rules select some examples with p = 0.0001, and sifting refuses such scores",
        remedy="bound the step that one example can take",
    )


def a_description_makes_an_equal_learner(case: _Case) -> None:
    """Where there is `describe`, its parameters are plain, and make a learner that learns the same."""
    learner = case.make()
    twin = rebuilt(learner)
    if twin is None:
        return
    for each in (learner, twin):
        each.update(case.examples)
        each.end_round()
    require(
        twin.digest() == learner.digest(),
        f"what {learner.describe()} makes learns otherwise",
        why="a run file keeps the description, to make the learner again",
        remedy="let describe give all of the constructor's parameters",
    )


def _loaded(case: _Case, saved: Learner) -> Learner:
    """A new learner with the state of this one, which went through bytes on the way."""
    loaded = case.make()
    loaded.load(unpack(pack(saved.save())))
    return loaded


def _spoil(state: State) -> None:
    for array in state.values():
        if array.flags.writeable:
            array[...] = np.zeros((), array.dtype) if array.any() else np.ones((), array.dtype)


def sparse_rows_keep_the_promises_too(case: _Case) -> None:
    """If it takes sparse rows: grouping does not matter, nor do other rows, and what waits is saved."""
    if not capabilities_of(case.make()).sparse:
        return
    dense = case.examples.examples
    rows = SparseRows.of(np.where(np.abs(dense.x) < 1.0, np.float32(0), dense.x))
    examples = replace(case.examples, examples=replace(dense, x=rows))
    learner, rng = case.make(), np.random.default_rng(case.seed)
    learner.update(examples.take(slice(0, _HALF)))
    whole = learner.score(rows)  # pyright: ignore[reportArgumentType]
    pieces = [learner.score(rows[cut]) for cut in random_pieces(_ROWS, rng)]  # pyright: ignore[reportArgumentType]
    remedy = "let what is done with a sparse row depend on the row and the model alone, or leave out sparse = True"
    require(same_bits(whole, np.concatenate(pieces)), "pieces got other scores", why=_REPLICAS, remedy=remedy)
    other = case.make()
    for cut in random_pieces(_HALF, rng):
        other.update(examples.take(cut))
    require(other.digest() == learner.digest(), "in pieces they gave another model", why=_REPLICAS, remedy=remedy)
    loaded = case.make()
    loaded.load(unpack(pack(learner.save())))
    for each in (learner, loaded):
        each.update(examples.take(slice(_HALF, None)))
        each.end_round()
    require(loaded.digest() == learner.digest(), "a loaded one learns on otherwise", why=_REPLICAS, remedy=remedy)


_CHECKS: tuple[Callable[[_Case], None], ...] = (
    make_gives_a_new_learner_each_time,
    equal_models_have_equal_digests,
    an_untrained_learner_gives_finite_scores,
    scoring_is_pure,
    a_score_does_not_depend_on_other_rows,
    updating_is_deterministic,
    the_grouping_of_entries_does_not_matter,
    ending_a_round_is_deterministic,
    the_digest_tells_models_apart,
    the_saved_state_is_plain_arrays,
    the_saved_state_is_a_copy,
    a_loaded_learner_is_the_saved_one,
    a_loaded_learner_learns_on_as_the_saved_one,
    loading_is_a_copy,
    a_proxy_belongs_to_the_model,
    a_deep_copy_is_equal_and_learns_apart,
    it_travels,
    weights_matter,
    a_large_weight_leaves_scores_finite,
    a_description_makes_an_equal_learner,
    sparse_rows_keep_the_promises_too,
)
