"""svmlight text as a stream and as a test set."""

from __future__ import annotations

import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import SGDClassifier

from paraactive import train
from paraactive.checks import check_stream
from paraactive.errors import InputError
from paraactive.learners import SklearnLearner
from paraactive.streams import Arrays, open_examples, open_rows, open_stream

TEXT = "# made by hand\n+1 1:0.5 3:2 # first\n-1 2:-1\n+1 qid:3 1:1 2:1 3:1\n"


@pytest.mark.parametrize("suffix", ["svm", "libsvm", "svmlight", "txt"])
def test_rows_are_sparse_and_labels_have_names(tmp_path: Path, suffix: str):
    path = tmp_path / f"a.{suffix}"
    path.write_text(TEXT)
    for stream in (Arrays.load(path, shuffle=False), open_stream(path, shuffle=False)):
        assert isinstance(stream, Arrays)
        assert (stream.classes, stream.counts) == (("-1", "1"), (1, 2))
        assert stream.read(0, 3).x.dense().tolist() == [[0.5, 0, 2], [0, -1, 0], [1, 1, 1]]
        assert stream.read(0, 3).y.tolist() == [1, -1, 1]
        check_stream(stream)


def test_a_test_set_may_lack_the_last_features(tmp_path: Path):
    (tmp_path / "a.svm").write_text("1 1:1\n-1 1:3 2:4\n")
    assert open_examples(tmp_path / "a.svm", ("-1", "1"), 4).x.dense().tolist() == [[1, 0, 0, 0], [3, 4, 0, 0]]
    assert open_rows(tmp_path / "a.svm", 3).dense().tolist() == [[1, 0, 0], [3, 4, 0]]
    with pytest.raises(InputError, match="the rows have 2 features, and those of the stream have 1"):
        open_examples(tmp_path / "a.svm", ("-1", "1"), 1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no rows"),
        ("# nothing\n", "has no rows"),
        ("1 1:0.5\n-1 1:\n", r"cannot read .*a\.svm: could not convert"),
        ("1 1:0.5\n-1 1\n", r"cannot read .*a\.svm"),
        ("1 1:0.5\nspam 1:2\n", r"cannot read .*a\.svm: could not convert string to float"),
        ("1 2:0.5 1:3\n-1 1:2\n", r"cannot read .*a\.svm: .*sorted"),
        ("1 1:0.5\n1 1:2\n", "1 class"),
        ("1 1:0.5\n-1 1:nan\n", "NaN"),
    ],
)
def test_text_that_cannot_be_used_is_refused(tmp_path: Path, text: str, says: str):
    (tmp_path / "a.svm").write_text(text)
    with pytest.raises(InputError, match=says):
        Arrays.load(tmp_path / "a.svm")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="no file"):
        Arrays.load(tmp_path / "none.svm")


def test_wide_rows_do_not_fill_the_memory(tmp_path: Path):
    (tmp_path / "a.svm").write_text("1 1:1\n-1 2000000000:1\n")
    stream = Arrays.load(tmp_path / "a.svm", shuffle=False)
    assert stream.width == 2_000_000_000
    assert stream.read(0, 2).x.nbytes < 100
    assert pickle.loads(pickle.dumps(stream)).fingerprint == stream.fingerprint


def test_a_wide_file_is_trained_on_within_little_memory(tmp_path: Path):
    rng, width = np.random.default_rng(0), 1_000_000
    lines: list[str] = []
    for _ in range(1500):
        columns = np.unique(rng.integers(1, width + 1, 8))
        label = 1 if rng.random() < 0.5 else -1
        telling = 1 + int(rng.integers(50)) + (50 if label > 0 else 0)
        columns = np.unique(np.append(columns, telling))
        lines.append(f"{label} " + " ".join(f"{column}:1" for column in columns))
    path = tmp_path / "wide.svm"
    path.write_text("\n".join([*lines, f"1 {width}:1"]) + "\n")
    tracemalloc.start()
    try:
        run = train(
            SklearnLearner(SGDClassifier(), minibatch=100), Arrays.load(path), rule="uniform", warmstart=500, batch=500,
            test=path,
            out=tmp_path / "run.db",
        )  # fmt: skip
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert run.evaluations[-1].mistakes < 300
    assert most < 150e6  # Dense, the rows would take 6 GB.


def test_indices_from_zero_are_refused_and_never_shifted(tmp_path: Path):
    (tmp_path / "a.svm").write_text("1 0:1 1:2 2:3\n-1 0:4 1:5 2:6\n")
    for opening in (
        lambda: Arrays.load(tmp_path / "a.svm"),
        lambda: open_examples(tmp_path / "a.svm", ("-1", "1"), 3),
        lambda: open_rows(tmp_path / "a.svm", 3),
    ):
        with pytest.raises(InputError, match=r"a\.svm has the index 0: svmlight indices start at 1.*zero_based=False"):
            opening()
    (tmp_path / "b.svm").write_text("1 1:2 2:3\n-1 1:5 2:6\n")  # The same without its first feature: still from 1.
    assert open_rows(tmp_path / "b.svm", 3).dense().tolist() == [[2, 3, 0], [5, 6, 0]]


def test_rows_of_zeros_are_a_label_alone(tmp_path: Path):
    (tmp_path / "a.txt").write_text("1\n-1 2:4\n")
    assert Arrays.load(tmp_path / "a.txt", shuffle=False).read(0, 2).x.dense().tolist() == [[0, 0], [0, 4]]
    (tmp_path / "b.svm").write_text("1\n-1\n")
    assert open_rows(tmp_path / "b.svm", 2).dense().tolist() == [[0, 0], [0, 0]]
    with pytest.raises(InputError, match=r"b\.svm has no features"):
        Arrays.load(tmp_path / "b.svm")
