"""Labels come back from a model with the type that they were given in, whatever way they went."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from cli.command_line import Printed, figures
from making import two_moons
from paraactive import Arrays, LaSVM, Model, Oracle, Table, resume, train
from paraactive.cli import app
from paraactive.data.labels import typed_labels
from paraactive.errors import InputError
from paraactive.runs.model import label_type_in
from paraactive.streams import Dataset, IterableStream, Stream, Unlabelled

X, SIDE = two_moons(600, noise=0.1, seed=0)
LABELS: dict[str, Any] = {
    "bool": SIDE > 0,
    "int": np.where(SIDE > 0, 7, -3),
    "uint8": np.where(SIDE > 0, 1, 0).astype(np.uint8),
    "three ints": np.where(X[:, 0] > 1, 2, SIDE > 0),
    "float": np.where(SIDE > 0, 2.0, 1.0),
    "fractions": np.where(SIDE > 0, 0.5, 0.1),
    "str": np.where(SIDE > 0, "up", "down"),
    "digits as text": np.where(SIDE > 0, "1", "0"),
}


def _table(y: Any) -> Any:
    return pa.table({"a": X[:, 0], "b": X[:, 1], "kind": y})


def _csv(y: Any, folder: Path) -> Stream:
    pyarrow.csv.write_csv(_table(y), folder / "rows.csv")
    return Table(folder / "rows.csv", "kind")


def _parquet(y: Any, folder: Path) -> Stream:
    pyarrow.parquet.write_table(_table(y), folder / "rows.parquet")
    return Table(folder / "rows.parquet", "kind")


def _npz(y: Any, folder: Path) -> Stream:
    np.savez(folder / "rows.npz", x=X, y=y)
    return Arrays.load(folder / "rows.npz")


STREAMS: dict[str, Callable[[Any, Path], Stream]] = {
    "arrays": lambda y, _: Arrays(X, y),
    "list": lambda y, _: Arrays(X, y.tolist()),
    "pandas": lambda y, _: Arrays(X, pd.Series(y)),
    "pandas, nullable": lambda y, _: Arrays(X, pd.Series(y).convert_dtypes()),
    "arrow": lambda y, _: Arrays(X, pa.chunked_array([pa.array(y)])),
    "npz": _npz,
    "csv": _csv,
    "parquet": _parquet,
    "data set": lambda y, _: Dataset(list(zip(X, y, strict=True))),
    "iterable": lambda y, _: IterableStream(zip(X, y, strict=True), classes=np.unique(y).tolist(), length=len(y)),
}
BACK: dict[str, str] = {"csv/digits as text": "iu", "csv/float": "iu", "pandas, nullable/float": "iu"}
"""A CSV file does not say of "1" whether it is text; pyarrow writes 1.0 as 1, and pandas makes whole numbers of it."""


def _kind(stream: str, labels: str) -> str:
    given = LABELS[labels].dtype.kind
    return BACK.get(f"{stream}/{labels}", "iu" if given in "iu" else given)


@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("name", STREAMS)
def test_a_prediction_can_be_compared_with_the_labels_that_were_given(name: str, labels: str, tmp_path: Path) -> None:
    y = LABELS[labels]
    kind = _kind(name, labels)
    if kind != "U" and y.dtype.kind == "U":
        y = y.astype(np.int64)
    stream, out = STREAMS[name](LABELS[labels], tmp_path), tmp_path / "run.db"
    run = train(LaSVM(gamma=2.0), stream, warmstart=300, batch=150, nodes=1, examples=600, out=out)
    from_run = Model.load(out)
    from_run.save(tmp_path / "a.model")
    for model in (Model.of(run.learner, stream), from_run, Model.load(tmp_path / "a.model")):
        predicted = model.predict(X)
        assert predicted.dtype.kind in kind
        assert np.mean(predicted != y) == model.mistakes(X, y) / len(X) < 0.1


def test_a_numpy_type_of_labels_comes_back_as_it_was() -> None:
    for kind in (np.int8, np.uint8, np.int32, np.uint64, np.float32, np.float16, np.bool_, np.str_):
        y = np.array([0, 1]).astype(kind)
        assert Model.of(LaSVM(), Arrays(X[:2], y)).labels_for(np.array([-1.0, 1.0])).tolist() == y.tolist()
        assert np.dtype(Arrays(X[:2], y).label_type).kind == np.dtype(kind).kind
    large = np.array([2**64 - 1, 0], np.uint64)
    assert Model.of(LaSVM(), Arrays(X[:2], large)).labels_for(np.array([1.0])).tolist() == [2**64 - 1]


def test_labels_of_mixed_types_stay_text() -> None:
    for y in (np.array([True, 3], object), [1, "one"]):
        assert Arrays(X[:2], y).label_type == "str"


def test_classes_that_are_listed_decide_with_the_file_which_type_it_is(tmp_path: Path) -> None:
    pyarrow.parquet.write_table(_table(LABELS["int"]), tmp_path / "rows.parquet")
    assert Table(tmp_path / "rows.parquet", "kind", classes=("7", "-3", "5")).label_type == "int64"
    assert Table(tmp_path / "rows.parquet", "kind", classes=("7", "-3", "other")).label_type == "str"


def test_a_resumed_run_with_an_oracle_keeps_the_type_of_its_classes(tmp_path: Path) -> None:
    np.save(tmp_path / "rows.npy", X)
    y = LABELS["int"]
    out = tmp_path / "run.db"
    stream = Unlabelled.load(tmp_path / "rows.npy", classes=[-3, 7], shuffle=False)
    settings: dict[str, Any] = {"warmstart": 100, "batch": 100, "nodes": 1}
    train(
        LaSVM(gamma=2.0), stream, oracle=Oracle(lambda index, rows: y[index]), examples=300, out=out, **settings
    )  # fmt: skip
    resume(out, examples=500, oracle=Oracle(lambda index, rows: y[index]))
    assert np.mean(Model.load(out).predict(X) != y) < 0.2


def test_files_of_earlier_versions_do_not_say_the_type_and_have_names() -> None:
    assert label_type_in({}, ("0", "1")) == "str"
    assert label_type_in({"label_type": "int64"}, ("0", "1")) == "int64"
    with pytest.raises(InputError, match="label_type is 'int64'"):
        label_type_in({"label_type": "int64"}, ("ham", "spam"))


@pytest.mark.parametrize("label_type", ["int64", "bool", "object", "datetime64", "S3"])
def test_a_type_that_the_names_do_not_have_is_refused(label_type: str) -> None:
    with pytest.raises(InputError, match="label_type is"):
        typed_labels(("ham", "spam"), label_type)


def test_predict_prints_names_and_gives_machines_typed_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Printed
) -> None:
    monkeypatch.chdir(tmp_path)
    np.savez("rows.npz", x=X, y=LABELS["int"])
    train(LaSVM(gamma=2.0), Arrays.load("rows.npz"), warmstart=300, batch=150, nodes=1, out="run.db")
    labels = figures(capsys, "predict", "run.db", "rows.npz")["labels"]
    assert set(labels) == {-3, 7}
    assert app.run(["predict", "run.db", "rows.npz"]) == 0
    assert [line.split(",")[0] for line in capsys.readouterr().out.splitlines()[1:]] == [str(each) for each in labels]
