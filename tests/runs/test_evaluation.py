"""The counts that are made of a model on test examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from making import two_moons
from paraactive import Arrays, Digits, LaSVM, Network, resume, train
from paraactive.errors import InputError

X, Y = two_moons(2400, noise=0.3, seed=0)
BATCH: dict[str, Any] = {"batch": 200, "warmstart": 200}


def moons(**options: Any) -> Arrays:
    return Arrays(X, Y, **options)


def svm() -> LaSVM:
    return LaSVM(gamma=1.0, gap=0.2)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "moons.npz"
    np.savez(path, x=X, y=np.where(Y > 0, "upper", "lower"))
    return path


def test_vectors_are_counted_only_if_they_are_a_number(tmp_path: Path) -> None:
    class Mine(Network):
        vectors = np.zeros((3, 2))

    x, y = two_moons(600, noise=0.3, seed=0)
    run = train(Mine(hidden=4), Arrays(x, y), test=(x, y), warmstart=100, batch=100, out=tmp_path / "run.db", nodes=1)
    assert run.evaluations[-1].vectors is None


def test_the_model_is_tried_whenever_a_tenth_more_was_seen_and_at_the_end():
    test = moons().read(0, 300)
    run = train(svm(), moons(), batch=50, warmstart=100, examples=1990, test=test)
    tried = [one.seen for one in run.evaluations]
    assert (tried[0], tried[-1]) == (100, 1990)
    ends, expected = [one.seen for one in run.rounds], [100]
    for seen in ends[1:]:
        if seen >= 1.1 * expected[-1] or seen == 1990:
            expected.append(seen)
    assert tried == expected
    assert len(tried) < len(ends)
    assert run.mistakes == np.sum((run.learner.score(test.x) > 0) != (test.y > 0))


def test_a_stopped_run_has_the_mistakes_of_its_last_model():
    test = moons().read(0, 300)
    run = train(svm(), moons(), batch=20, warmstart=1000, test=test, stop=lambda run: run.seen >= 1060)
    assert run.evaluations[-1].seen == run.seen == 1060


def test_test_examples_of_the_stream_and_from_a_file_are_found_again(data: Path, tmp_path: Path):
    digits, files = tmp_path / "digits.db", tmp_path / "files.db"
    train(LaSVM(gamma=0.012), Digits(), examples=400, **BATCH, test=True, out=digits)
    assert resume(digits, examples=600).evaluations[-1].seen == 600
    train(svm(), Arrays.load(data), **BATCH, examples=400, test=str(data), out=files)
    assert resume(files, examples=600).summary()["test_examples"] == 2400


def test_a_test_file_of_another_width_is_refused_before_anything_is_written(tmp_path: Path):
    np.savez(tmp_path / "wide.npz", x=np.zeros((4, 5)), y=[-1, 1, 1, 1])
    with pytest.raises(InputError, match="the rows have 5 features, and those of the stream have 2"):
        train(svm(), moons(), test=tmp_path / "wide.npz", out=tmp_path / "run.db")
    assert not (tmp_path / "run.db").exists()


def test_test_examples_may_be_given_as_x_and_y():
    run = train(svm(), moons(), test=(X, Y))
    assert run.evaluations[-1].test_examples == 2400
    assert run.mistakes is not None
    assert 0 < run.mistakes < 400


def test_mistakes_are_those_of_the_model_as_it_is(out: Path):
    train(svm(), moons(), **BATCH, test=(X, Y), out=out, stop=lambda run: run.seen >= 600)
    later = resume(out, stream=moons())
    assert later.evaluations
    assert later.mistakes is None, "the test examples were not handed over again"
    assert resume(out, stream=moons(), test=(X, Y)).mistakes is not None
