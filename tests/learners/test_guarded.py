from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier

from learners.reference import dual_of
from making import selected, three_blobs, two_moons
from paraactive import Arrays, LaSVM, Network, train
from paraactive.basics.part_spec import OWN
from paraactive.basics.registry import LEARNERS
from paraactive.basics.state import State
from paraactive.checks import check_learner
from paraactive.data.examples import Doubles, Examples, Selected, SparseRows
from paraactive.data.labels import signed_margin
from paraactive.errors import InputError
from paraactive.experiments.noise import FlippedLabels
from paraactive.learners import Learner, SklearnLearner, guarded
from paraactive.learners.guarded import Guarded, SetAside

INSIDE: dict[str, Callable[[], Learner]] = {
    "svm": lambda: LaSVM(gamma=1.0, gap=0.1),
    "network": lambda: Network(hidden=20),
    "scikit-learn": lambda: cast(Learner, SklearnLearner(SGDClassifier(random_state=0))),
}


def some(classes: int = 2, count: int = 300) -> Selected:
    """Examples of which some have a wrong label, with weights 1 to 20."""
    x, y = two_moons(count, noise=0.2, seed=0) if classes == 2 else three_blobs(count, seed=0)
    rng = np.random.default_rng(1)
    wrong = rng.random(count) < 0.15
    y = np.where(wrong, -y if classes == 2 else (y + 1) % 3, y).astype(np.int8)
    return Selected.weighted(x, y, rng.uniform(1, 20, count))


def new(inside: str, classes: int = 2, **options: Any) -> Guarded:
    learner = Guarded(INSIDE[inside](), **options)
    learner.classes = classes
    return learner


def warmed(inside: str, classes: int = 2, **options: Any) -> tuple[Guarded, Selected]:
    """One that has ended its warmstart, and what comes then."""
    learner, log = new(inside, classes, **options), some(classes)
    learner.update(log.take(slice(0, 150)))
    learner.end_round()
    return learner, log.take(slice(150, None))


def _inside(inside: str, classes: int) -> Learner:
    if (inside, classes) == ("scikit-learn", 3):  # One by one takes 15 s, and two classes are learned one by one.
        return cast(Learner, SklearnLearner(SGDClassifier(random_state=0), minibatch=8))
    return INSIDE[inside]()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("inside", INSIDE)
def test_it_keeps_the_contract_of_a_learner(inside: str, classes: int) -> None:
    check_learner(lambda: Guarded(_inside(inside, classes), cap=30, set_aside=0.2), classes=classes)  # pyright: ignore


@pytest.mark.parametrize("inside", INSIDE)
def test_without_a_cap_and_a_margin_it_is_the_learner_inside(inside: str) -> None:
    plain, log = INSIDE[inside](), some()
    learner = Guarded(INSIDE[inside]())
    for each in (plain, learner):
        each.update(log.take(slice(0, 200)))
        each.end_round()
        each.update(log.take(slice(200, None)))
        each.end_round()
    assert learner.learner.digest() == plain.digest()
    assert np.array_equal(learner.score(log.examples.x), plain.score(log.examples.x))


@pytest.mark.parametrize("inside", INSIDE)
def test_a_cap_bounds_the_weight_that_is_learnt_importance_included(inside: str) -> None:
    log, importance = some(), np.linspace(0.5, 2, 300)
    heavy = replace(log, examples=replace(log.examples, importance=importance))
    plain, learner = INSIDE[inside](), Guarded(INSIDE[inside](), cap=4)
    learner.update(heavy)
    capped = replace(log.examples, importance=np.minimum(importance / log.p, 4))
    plain.update(replace(log, examples=capped, p=np.ones(300)))
    assert np.array_equal(learner.score(log.examples.x), plain.score(log.examples.x))
    free = INSIDE[inside]()
    free.update(heavy)
    assert not np.array_equal(learner.score(log.examples.x), free.score(log.examples.x))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("inside", INSIDE)
def test_what_is_set_aside_is_what_the_words_say(inside: str, classes: int) -> None:
    """Against the slow and obvious: ask the model before each example, and again after the round."""
    learner, log = warmed(inside, classes, set_aside=0.1)
    plain: Any = INSIDE[inside]()
    plain.classes = classes
    first_part = some(classes).take(slice(0, 150))
    plain.update(first_part)
    plain.end_round()
    learnt = Counter(first_part.examples.y.tolist())
    waiting: list[Selected] = []
    out: list[int] = []
    for first, last in ((0, 60), (60, 150)):
        for row in range(first, last):
            one = log.take(slice(row, row + 1))
            if margin_of(plain, one) < -0.1 and learnt[int(one.examples.y[0])] >= 50:
                waiting.append(one)
            else:
                plain.update(one)
                learnt.update(one.examples.y.tolist())
        margins = [margin_of(plain, one) for one in waiting]
        out += [int(one.examples.key[0]) for one, margin in zip(waiting, margins, strict=True) if margin < -0.1]
        for one, margin in zip(waiting, margins, strict=True):
            if margin >= -0.1:
                plain.update(one)
                learnt.update(one.examples.y.tolist())
        plain.end_round()
        waiting.clear()
        learner.update(log.take(slice(first, last)))
        learner.end_round()
    assert learner.learner.digest() == plain.digest()
    assert learner.set_aside_keys.tolist() == out
    assert learner.set_aside_count == len(out) > (5 if classes == 2 else 0)


def margin_of(learner: Learner, one: Selected) -> float:
    return float(signed_margin(learner.score(one.examples.x), one.examples.y)[0])


@pytest.mark.parametrize("inside", INSIDE)
@given(cuts=st.sets(st.integers(1, 149), max_size=10))
@settings(max_examples=15, deadline=None)
def test_the_grouping_of_entries_does_not_matter_after_a_round_either(inside: str, cuts: set[int]) -> None:
    (whole, log), (pieces, _) = warmed(inside, cap=10, set_aside=0.1), warmed(inside, cap=10, set_aside=0.1)
    whole.update(log)
    for first, last in pairwise([0, *sorted(cuts), 150]):
        pieces.update(log.take(slice(first, last)))
    assert pieces.digest() == whole.digest()
    assert len(whole.save()["waiting.y"]) > 5
    whole.end_round()
    pieces.end_round()
    assert pieces.digest() == whole.digest()


def test_nothing_is_set_aside_before_the_first_round_has_ended() -> None:
    plain, learner = INSIDE["svm"](), new("svm", set_aside=1e-9)
    plain.update(some())
    learner.update(some())
    learner.end_round()
    plain.end_round()
    assert learner.learner.digest() == plain.digest()
    assert learner.report() == []


@pytest.mark.parametrize("inside", INSIDE)
@pytest.mark.parametrize("way", ["loaded", "deep copy", "pickled"])
def test_what_waits_survives(inside: str, way: str) -> None:
    learner, log = warmed(inside, set_aside=0.1)
    learner.update(log.take(slice(0, 100)))
    assert len(learner.save()["waiting.y"]) > 3
    twin = new(inside, set_aside=0.1)
    if way == "loaded":
        twin.load(learner.save())
    else:
        twin = copy.deepcopy(learner) if way == "deep copy" else pickle.loads(pickle.dumps(learner))
    for each in (learner, twin):
        each.update(log.take(slice(100, None)))
        each.end_round()
    assert twin.digest() == learner.digest()
    assert twin.report() == learner.report() != []


def test_where_and_when_an_example_was_sifted_is_no_part_of_the_model() -> None:
    (one, log), (other, _) = warmed("svm", set_aside=0.1), warmed("svm", set_aside=0.1)
    one.update(log)
    ones = np.ones(len(log), np.int64)
    other.update(Selected(log.examples, log.p, 9 * ones, 7 * ones))
    assert one.digest() == other.digest()


class Turning:
    """Says -2 for every row until it has learnt something, and +2 from then on."""

    def __init__(self) -> None:
        self.rounds, self.learnt = 0, list[tuple[int, float]]()

    def score(self, x: Any) -> Doubles:
        return np.full(len(x), 2.0 if self.learnt else -2.0)

    def update(self, selected: Selected) -> None:
        self.learnt += zip(selected.examples.key.tolist(), selected.weight.tolist(), strict=True)

    def end_round(self) -> None:
        self.rounds += 1

    def save(self) -> State:
        return {}

    def load(self, state: State) -> None: ...

    def digest(self) -> str:
        return ""

    def describe(self) -> dict[str, Any]:
        return {}


def test_what_is_no_longer_wrong_at_the_end_of_the_round_is_learnt_then_in_the_order_of_the_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(guarded, "_MIN_LEARNED", 0)
    inside = Turning()
    learner = Guarded(inside, cap=3, set_aside=1)
    learner.end_round()
    key = np.array([5, 6, 7, 8])
    examples = Examples(np.zeros((4, 1), np.float32), np.array([1, 1, -1, 1], np.int8), key, key)
    none = np.zeros(4, np.int64)
    learner.update(Selected(examples, np.array([1, 0.25, 0.5, 0.5]), none, none))
    assert inside.learnt == [(7, 2), (8, 2)]
    learner.end_round()
    assert inside.learnt == [(7, 2), (8, 2), (5, 1), (6, 3)]
    assert (learner.set_aside_count, learner.returned_count, inside.rounds) == (0, 2, 2)
    learner.update(Selected(examples, np.ones(4), none, none))
    assert learner.report() == []  # It waits still.
    learner.end_round()
    assert learner.report() == [SetAside(7, -2.0)]
    assert LEARNERS.describe(learner).kind == OWN  # The learner inside is not one of this package.


def test_the_list_is_bounded_and_keeps_the_most_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    everyone, log = warmed("svm", set_aside=0.1)
    monkeypatch.setattr(guarded, "LISTED", 4)
    few, _ = warmed("svm", set_aside=0.1)
    for first, last in pairwise([0, 40, 90, 150]):
        for learner in (everyone, few):
            monkeypatch.setattr(guarded, "LISTED", 4 if learner is few else 1000)
            learner.update(log.take(slice(first, last)))
            learner.end_round()
    assert len(everyone.report()) > 4
    assert few.report() == everyone.report()[:4]
    assert few.set_aside_count == everyone.set_aside_count
    margins = [margin for _, margin in everyone.report()]
    assert margins == sorted(margins)
    assert max(margins) < -0.1


@pytest.mark.parametrize("seed", range(3))
def test_most_of_what_is_set_aside_has_a_wrong_label_and_most_wrong_labels_are(seed: int) -> None:
    x, y = two_moons(4000, noise=0.15, seed=seed)
    stream = FlippedLabels(Arrays(x, y, seed=seed), 0.1, seed)
    run = train(Guarded(LaSVM(gamma=2.0, gap=0.2), set_aside=0.3), stream, batch=400, warmstart=400, seed=seed, nodes=1)  # pyright: ignore[reportArgumentType]
    learner: Any = run.learner
    keys = learner.set_aside_keys
    assert stream.flipped(keys).mean() > 0.85
    assert stream.flipped(keys).sum() > 0.7 * stream.flipped(np.arange(4000))[stream.read(400, 4000).key].sum()


def test_it_tells_of_the_learner_inside_what_that_tells() -> None:
    svm, network = Guarded(LaSVM()), Guarded(Network())
    svm.update(some())
    assert (svm.vectors, svm.releases_gil) == (svm.learner.vectors, True)  # pyright: ignore[reportAttributeAccessIssue]
    assert network.log_odds is True
    assert not hasattr(svm, "log_odds")
    with pytest.raises(AttributeError, match="nonsense"):
        _ = svm.nonsense


def test_classes_are_those_of_the_learner_inside() -> None:
    learner = Guarded(LaSVM())
    assert learner.classes is None
    learner.classes = 3
    assert learner.learner.classes == 3  # pyright: ignore[reportAttributeAccessIssue]
    assert Guarded(Turning()).classes == 2


def test_a_description_has_the_learner_inside() -> None:
    learner = Guarded(Network(hidden=7), cap=50, set_aside=2, classes=3)
    described = LEARNERS.describe(learner).to_dict()
    assert described.pop("kind") == "guarded"
    assert described["learner"] == {"kind": "network"} | Network(hidden=7, classes=3).describe()
    assert described | {"learner": None} == {
        "learner": None,
        "cap": 50.0,
        "set_aside": 2.0,
        "classes": 3,
        "class_weight": None,
    }
    assert repr(LEARNERS.build(LEARNERS.describe(learner))) == repr(learner)
    assert repr(learner).startswith("Guarded(Network(hidden=7")


@pytest.mark.parametrize("name", ["cap", "set_aside"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "much"])
def test_a_cap_and_a_margin_are_positive(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=rf"{name} is .*give {name} > 0"):
        Guarded(LaSVM(), **{name: value})


@pytest.mark.parametrize("learner", [LaSVM, None, "svm", 3])
def test_what_is_no_learner_is_not_guarded(learner: Any) -> None:
    with pytest.raises(InputError, match="it is not a learner"):
        Guarded(learner)


def test_a_guarded_learner_is_not_guarded_again() -> None:
    with pytest.raises(InputError, match="guarded already"):
        Guarded(Guarded(LaSVM()))  # pyright: ignore[reportArgumentType]


def test_classes_of_another_number_are_refused() -> None:
    with pytest.raises(InputError, match="classes is 1"):
        Guarded(LaSVM(), classes=1)


# Weights of classes ----------------------------------------------------------------------------------------------


def test_a_class_weight_is_worth_as_much_as_the_weight_of_each_of_its_examples() -> None:
    x, y = two_moons(300, noise=0.3, seed=0)
    by_class, by_hand = Guarded(LaSVM(gamma=1.0), class_weight=(1.0, 3.0)), LaSVM(gamma=1.0)
    by_class.update(selected(x, y))
    by_hand.update(Selected.weighted(x, y, np.where(y > 0, 3.0, 1.0)))
    assert by_class.learner.digest() == by_hand.digest()
    assert dual_of(by_hand).upper.max() == 3.0  # It reaches the box.
    assert dual_of(by_hand).lower.min() == -1.0


def test_a_class_weight_reaches_the_loss_of_the_network() -> None:
    x, y = two_moons(300, noise=0.3, seed=0)
    by_class, by_hand = Guarded(Network(hidden=9), class_weight=(0.5, 2.0)), Network(hidden=9)
    by_class.update(selected(x, y))
    by_hand.update(Selected.weighted(x, y, np.where(y > 0, 2.0, 0.5)))
    assert by_class.learner.digest() == by_hand.digest()


def test_the_cap_is_on_the_whole_weight() -> None:
    x, y = two_moons(300, noise=0.3, seed=0)
    both, by_hand = Guarded(LaSVM(gamma=1.0), cap=2.0, class_weight=(1.0, 3.0)), LaSVM(gamma=1.0)
    both.update(selected(x, y))
    by_hand.update(Selected.weighted(x, y, np.where(y > 0, 2.0, 1.0)))
    assert both.learner.digest() == by_hand.digest()


@pytest.mark.parametrize("weights", [(1.0, 0.0), (1.0, -2.0), (float("nan"), 1.0)])
def test_class_weights_that_make_no_sense_are_refused(weights: Any) -> None:
    with pytest.raises(InputError, match="class_weight"):
        Guarded(LaSVM(), class_weight=weights)


def test_weights_for_another_number_of_classes_are_refused() -> None:
    with pytest.raises(InputError, match="class_weight has 2 numbers, and there are 3 classes"):
        Guarded(LaSVM(classes=3), class_weight=(1.0, 2.0))
    x, y = three_blobs(300, seed=0)
    with pytest.raises(InputError, match="class_weight has 2 numbers, and there are 3 classes"):
        train(Guarded(LaSVM(), class_weight=(1.0, 2.0)), Arrays(x, y))


# Classes that come late ------------------------------------------------------------------------------------------


def test_a_class_that_the_warmstart_lacks_is_learnt_all_the_same() -> None:
    x, y = three_blobs(3000, seed=0)
    order = np.concatenate([np.flatnonzero(y != 2)[:300], np.setdiff1d(np.arange(3000), np.flatnonzero(y != 2)[:300])])
    stream = Arrays(x[order], y[order], shuffle=False)
    run = train(LaSVM(gamma=0.5, gap=0.2), stream, guard=True, warmstart=300, batch=300, nodes=1)
    late = x[y == 2]
    assert np.mean(run.learner.score(late).argmax(axis=1) == 2) > 0.7


def test_a_warmstart_of_one_class_does_no_harm() -> None:
    x, y = two_moons(3000, noise=0.15, seed=0)
    order = np.argsort(y[:400], kind="stable")
    x[:400], y[:400] = x[:400][order], y[:400][order]
    run = train(LaSVM(gamma=1.0, gap=0.2), Arrays(x, y, shuffle=False), guard=True, warmstart=150, batch=300, nodes=1)
    assert np.mean((run.learner.score(x) > 0) == (y > 0)) > 0.95


def test_a_rare_class_is_not_set_aside() -> None:
    x, y = two_moons(6000, noise=0.15, seed=0)
    kept = (y > 0) | (np.arange(6000) % 60 == 0)
    x, y = x[kept], y[kept]
    recall: list[float] = []
    for guard in (False, True):
        run = train(LaSVM(gamma=1.0, gap=0.2), Arrays(x, y), guard=guard, warmstart=200, batch=300, nodes=1)
        recall.append(float(np.mean(run.learner.score(x[y < 0]) < 0)))
    assert recall[0] > 0.6
    assert recall[1] > recall[0] - 0.2


def test_which_sparse_rows_are_set_aside_does_not_depend_on_how_they_are_grouped() -> None:
    rng = np.random.default_rng(0)
    x = (rng.normal(size=(200, 12)) * (rng.random((200, 12)) < 0.5)).astype(np.float32)
    y = np.where(x[:, 0] > 0, 1, -1).astype(np.int8)
    y[130:140] *= -1

    log = Selected.weighted(SparseRows.of(x), y)

    def learnt(*cuts: int) -> str:
        learner = Guarded(LaSVM(gamma=0.2), set_aside=0.01)
        for a, b in zip((0, *cuts), (*cuts, 200), strict=True):
            learner.update(log.take(slice(a, b)))
            if b == 60:
                learner._trusted = True
                learner._learned[:] = 100
        return learner.digest()

    assert learnt(60) == learnt(60, 62, 63, 90, 150)
