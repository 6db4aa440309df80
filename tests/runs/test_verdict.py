"""The verdict on a run, its warnings, and runs that keep the model after the warmstart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paraactive import Arrays, Model, replay, resume, train
from paraactive.runs import loop
from paraactive.runs.run import Run
from paraactive.runs.runfile import RunFile
from paraactive.runs.verdict import is_worse_than_warmstart, verdict_of
from paraactive.sifting.confidence import Interval
from paraactive.sifting.estimates import Estimates
from paraactive.streams import IterableStream
from runs.jobs import BATCH, Centroids, X, moons, svm

GOOD = Estimates(
    examples=10_000, error=Interval(0.06, 0.05, 0.07), loss=Interval(0.2, 0.1, 0.3), recent_examples=2500,
    recent_error=Interval(0.05, 0.04, 0.06), first_error=Interval(0.1, 0.08, 0.12),
    weighted_error=Interval(0.05, 0.04, 0.06), first_weighted_error=Interval(0.1, 0.08, 0.12),
    class_errors={"no": 0.05, "yes": 0.05}, commonest="no", commonest_error=0.4, commonest_weighted_error=0.4,
    is_weighted=False, effective_size=700.0, selected=1000, scale=1.0,
)  # fmt: skip


def _warnings(known: Estimates, selected: int = 1000, rule: str = "signed", kept: bool = False) -> tuple[str, ...]:
    return verdict_of(known, selected, 10_000, kept, rule).warnings


def test_the_sentence_has_the_error_the_commonest_class_and_the_rate() -> None:
    verdict = verdict_of(GOOD, 1000, 10_000, kept_warmstart=False, rule="signed")
    assert verdict.sentence == (
        "Estimated error 5.00% (4.00% to 6.00%); always predicting the commonest class: 40.00%; "
        "1,000 of 10,000 examples were selected (10.0%)."
    )
    assert verdict.warnings == ()
    assert str(verdict) == verdict.sentence


def test_a_run_without_scores_says_so_and_warns_of_nothing() -> None:
    verdict = verdict_of(None, 9000, 10_000, kept_warmstart=False)
    assert verdict.sentence.startswith("The error is not known, because no example was scored before it, or an equal")
    assert "9,000 of 10,000" in verdict.sentence
    assert verdict.warnings == ()


def test_a_run_that_sifted_nothing_has_a_verdict() -> None:
    verdict = verdict_of(GOOD, 0, 0, kept_warmstart=False)
    assert verdict.sentence.endswith("40.00%; all examples were learned in the warmstart.")


def test_a_model_no_better_than_the_commonest_class_is_warned_of() -> None:
    useless = replace(GOOD, commonest_error=0.05, commonest_weighted_error=0.05)
    (warning,) = _warnings(useless)
    assert warning.startswith("the model is no better than always predicting 'no'")
    assert not verdict_of(useless, 1000, 10_000, kept_warmstart=False).is_sound
    assert verdict_of(GOOD, 9000, 10_000, kept_warmstart=False).is_sound


def test_the_errors_of_a_run_with_weights_are_weighted() -> None:
    weighted = replace(GOOD, weighted_error=Interval(0.2, 0.1, 0.3), commonest_weighted_error=0.5, is_weighted=True)
    verdict = verdict_of(weighted, 1000, 10_000, kept_warmstart=False)
    assert verdict.sentence.startswith(
        "Estimated weighted error 20.00% (10.00% to 30.00%); always predicting one class: 50.00%;"
    )
    (warning,) = _warnings(replace(weighted, commonest_weighted_error=0.1))
    assert warning.startswith("the model is no better than always predicting one class")


def test_a_budget_that_binds_is_said() -> None:
    sentence = verdict_of(replace(GOOD, scale=0.5), 1000, 10_000, kept_warmstart=False).sentence
    assert sentence.endswith("(10.0%), limited by the budget (scale of p 0.50 on average).")


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (True, "the model became worse than after the warmstart, so the model after the warmstart was kept; the latest "
         "model has an error of 5.00%"),
        (False, "the error is larger than after the warmstart, where it was 2.00% (1.00% to 3.00%); the data may have "
         "changed on the way"),
    ],
)  # fmt: skip
def test_a_model_worse_than_after_the_warmstart_is_warned_of(kept: bool, said: str) -> None:
    worse = replace(GOOD, first_error=Interval(0.02, 0.01, 0.03), first_weighted_error=Interval(0.02, 0.01, 0.03))
    (warning,) = _warnings(worse, kept=kept)
    assert warning.startswith(said)
    sentence = verdict_of(worse, 1000, 10_000, kept).sentence
    assert sentence.startswith("Estimated error 2.00%" if kept else "Estimated error 5.00%")


def test_a_few_sifted_examples_say_nothing_about_the_rate() -> None:
    assert verdict_of(GOOD, 1, 1, kept_warmstart=False, rule="signed").warnings == ()


def test_a_run_that_selects_most_examples_is_warned_of() -> None:
    (warning,) = _warnings(GOOD, selected=6000)
    assert warning.startswith("60% of the examples were selected, so sifting saves little here")
    assert _warnings(GOOD, selected=5000) == ()


def test_uneven_weights_are_warned_of() -> None:
    (warning,) = _warnings(replace(GOOD, effective_size=50.0))
    assert warning.startswith("the weights are uneven: 1,000 selected examples count like 50 of equal weight")


def test_all_warnings_come_together_one_in_a_line() -> None:
    bad = replace(
        GOOD, commonest_weighted_error=0.01, first_weighted_error=Interval(0.02, 0.01, 0.03), effective_size=5.0
    )
    verdict = verdict_of(bad, 9000, 10_000, kept_warmstart=True, rule="signed")
    assert len(verdict.warnings) == 4
    assert str(verdict).count("\nWarning: ") == 4


@pytest.mark.parametrize("rule", ["passive", "uniform"])
def test_rules_that_do_not_sift_are_not_warned_of_selecting_much(rule: str) -> None:
    assert _warnings(GOOD, selected=10_000, rule=rule) == ()


def test_a_passive_run_on_good_data_has_no_warnings() -> None:
    verdict = train(svm(), moons(), rule="passive", **BATCH, nodes=1).verdict
    assert verdict.warnings == ()
    assert "2,200 of 2,200 examples were selected (100.0%)" in verdict.sentence


@pytest.mark.parametrize(
    ("first", "recent", "worse"),
    [
        (Interval(0.1, 0.08, 0.12), Interval(0.2, 0.13, 0.3), True),
        (Interval(0.1, 0.08, 0.12), Interval(0.2, 0.11, 0.3), False),
        (Interval(0.2, 0.15, 0.3), Interval(0.1, 0.05, 0.12), False),
        (None, Interval(0.9, 0.8, 1.0), False),
    ],
)
def test_a_model_is_worse_if_the_intervals_do_not_overlap(
    first: Interval | None, recent: Interval, worse: bool
) -> None:
    assert is_worse_than_warmstart(replace(GOOD, first_weighted_error=first, weighted_error=recent)) is worse


def test_without_estimates_no_model_is_worse() -> None:
    assert not is_worse_than_warmstart(None)


@pytest.fixture
def worse(monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend_worse(monkeypatch)


def _pretend_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(*_: object) -> bool:
        return True

    monkeypatch.setattr(loop, "is_worse_than_warmstart", always)
    monkeypatch.setattr(loop, "is_better_on_recent", always)


def _train(**options: Any) -> Run:
    settings: dict[str, Any] = {"nodes": 1, **BATCH, **options}
    return train(svm(), moons(), rule="signed", **settings)


@pytest.mark.usefixtures("worse")
@pytest.mark.parametrize("options", [{}, {"finish": True}, {"class_weight": {"1": 3.0}}, {"nodes": 3}], ids=str)
def test_a_run_that_keeps_the_warmstart_has_its_model_in_memory_and_in_its_file(
    options: dict[str, Any], out: Path
) -> None:
    run = _train(out=out, **options)
    assert run.kept_warmstart
    assert run.summary()["kept_warmstart"] is True
    loaded = Model.load(out)
    assert loaded.learner.digest() == run.learner.digest()
    again = replay(out)
    assert again.kept_warmstart
    assert again.learner.digest() == run.learner.digest()
    assert np.array_equal(loaded.decision_function(X), run.learner.score(X))
    assert np.array_equal(loaded.predict(X), np.where(run.learner.score(X) > 0, 1, -1))


@pytest.mark.usefixtures("worse")
def test_the_model_that_is_kept_is_that_of_the_warmstart(out: Path) -> None:
    alone = train(svm(), moons(), rule="signed", batch=200, warmstart=200, examples=200, nodes=1)
    run = _train(out=out)
    assert run.learner.digest() == alone.learner.digest()
    with RunFile.read(out) as file:
        assert file.events.read("RunEnded")[-1]["kept"] == "warmstart"


@pytest.mark.usefixtures("worse")
def test_the_mistakes_of_a_run_are_those_of_the_model_that_is_kept() -> None:
    test = moons().read(0, 500)
    run = _train(test=test)
    scored = run.learner.score(np.asarray(test.x))
    assert run.mistakes == int(np.count_nonzero((scored > 0) != (test.y > 0)))


def test_a_run_that_kept_the_warmstart_goes_on_from_the_latest_model(
    out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = _train()

    with monkeypatch.context() as patched:
        _pretend_worse(patched)
        assert _train(out=out, examples=1200).kept_warmstart
    run = resume(out, stream=moons(), examples=2400)
    assert not run.kept_warmstart
    assert run.learner.digest() == whole.learner.digest()
    assert Model.load(out).learner.digest() == whole.learner.digest()


@pytest.mark.usefixtures("worse")
def test_a_learner_of_the_users_own_is_never_replaced() -> None:
    run = train(Centroids(), moons(), rule="signed", nodes=1, engine="threads", **BATCH)
    assert not run.kept_warmstart


def test_a_model_that_becomes_worse_is_replaced_without_being_told() -> None:
    x = np.random.default_rng(0).normal(size=(12_000, 2)).astype(np.float32)
    place = np.arange(12_000)
    wrong = (place > 3000) & (place < 9000)  # The model unlearns what it knew, and the rest is too short to recover.
    stream = Arrays(x, (x[:, 0] > 0) ^ wrong, shuffle=False)
    run = train(svm(), stream, warmstart=1000, batch=500, nodes=1)
    assert run.kept_warmstart
    assert "became worse than after the warmstart" in "".join(run.verdict.warnings)
    assert np.mean((run.learner.score(x) > 0) == (x[:, 0] > 0)) > 0.95


def test_the_latest_model_is_kept_where_the_data_changes() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(9000, 2)).astype(np.float32)
    noisy = rng.random(9000) < 0.3
    changed = np.arange(9000) > 4000  # From then on, another feature decides, with noise.
    y = np.where(changed, (x[:, 1] > 0) ^ noisy, x[:, 0] > 0)
    run = train(svm(), Arrays(x, y, shuffle=False), warmstart=1500, batch=500, nodes=1)
    assert is_worse_than_warmstart(run.estimates)
    assert not run.kept_warmstart
    assert np.mean((run.learner.score(x[6000:]) > 0) == (x[6000:, 1] > 0)) > 0.8


def test_a_learner_that_was_trained_before_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend_worse(monkeypatch)
    learner = svm()
    train(learner, moons(), rule="passive", nodes=1, examples=400)
    assert not train(learner, moons(), rule="signed", nodes=1, **BATCH).kept_warmstart


def test_a_stream_that_cannot_be_read_again_keeps_its_latest_model(monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend_worse(monkeypatch)
    rows = moons().read(0, 2000)
    pairs = zip(np.asarray(rows.x), rows.y.tolist(), strict=True)
    stream = IterableStream(pairs, classes=(-1, 1), window=500)
    run = train(svm(), stream, rule="signed", examples=2000, warmstart=200, batch=200, nodes=1, engine="threads")
    assert not run.kept_warmstart
