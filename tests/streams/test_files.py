"""Files by the ending of their names: as streams, test examples, and rows to predict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import pytest

from paraactive.errors import InputError
from paraactive.streams import Arrays, Table, Unlabelled, open_examples, open_rows, open_stream
from streams.tabling import csv, frame, parquet

DATA = frame()
X = DATA[["f0", "f1", "f2"]].to_numpy(np.float32)
Y = np.where(DATA["y"] == "spam", 1, -1)


def write(path: Path) -> Path:
    suffix = path.suffix[1:]
    if suffix == "npz":
        np.savez(path, x=X, y=DATA["y"].to_numpy(str))
    elif suffix == "npy":
        np.save(path, np.column_stack([X, Y]))
    elif suffix in ("parquet", "pq"):
        parquet(path, DATA)
    else:
        csv(path, DATA, sep="\t" if suffix in ("tsv", "txt") else ",")
    return path


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.parquet", Table), ("a.pq", Table), ("a.csv", Table), ("a.tsv", Table), ("a.txt", Table), ("A.CSV", Table),
        ("a.npz", Arrays), ("a.npy", Arrays),
    ],
)  # fmt: skip
def test_the_ending_of_the_name_says_what_it_is(tmp_path: Path, name: str, kind: type[Any]):
    stream = open_stream(write(tmp_path / name), seed=3, shuffle=False, passes=2)
    assert isinstance(stream, kind)
    assert (stream.length, stream.width) == (120, 3)
    assert (stream.read(0, 60).x == X).all()
    assert (stream.read(0, 60).y == Y).all()


@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.npz", "a.npy"])
def test_test_examples_and_rows_come_from_all_of_them(tmp_path: Path, name: str):
    path = write(tmp_path / name)
    classes = ("-1", "1") if name == "a.npy" else ("ham", "spam")
    examples = open_examples(path, classes, 3)
    assert (examples.x == X).all()
    assert (examples.y == Y).all()
    assert (open_rows(path, 3) == X).all()
    with pytest.raises(InputError, match="unknown label"):
        open_examples(path, ("no", "yes"), 3)
    with pytest.raises(InputError, match="features, and those of the stream have 5"):
        open_examples(path, classes, 5)
    with pytest.raises(InputError, match=r"features, and those of the stream have 5|not numbers"):
        open_rows(path, 5)


def test_folders_patterns_lists_and_addresses_are_tables(tmp_path: Path):
    (tmp_path / "part").mkdir()
    path = parquet(tmp_path / "part" / "a.parquet", DATA)
    fsspec.filesystem("memory").pipe("/files/a.parquet", path.read_bytes())
    for given in (tmp_path / "part", str(tmp_path / "part" / "*.parquet"), [path, path], "memory://files/a.parquet"):
        stream = open_stream(given)
        assert isinstance(stream, Table)
        assert open_rows(given, 3).shape == (stream.rows, 3)
    with pytest.raises(InputError, match=r"only files that end in \.parquet.*copy the file to this machine"):
        open_stream("memory://files/a.npz")


@pytest.mark.parametrize("name", ["label", "target", "class", "y", "Label", "TARGET"])
def test_the_label_is_found_by_its_usual_names(tmp_path: Path, name: str):
    path = csv(tmp_path / "a.csv", DATA.rename(columns={"y": name}))
    stream = open_stream(path)
    assert isinstance(stream, Table)
    assert (stream.label, stream.width) == (name, 3)


def test_a_label_that_is_not_found_has_to_be_named(tmp_path: Path):
    path = csv(tmp_path / "a.csv", DATA.rename(columns={"y": "kind"}))
    with pytest.raises(InputError, match=r"columns 'f0', 'kind', 'f1', 'f2': no column is called label.*label='f2'"):
        open_stream(path)
    assert open_stream(path, label="kind").classes == ("ham", "spam")
    two = csv(tmp_path / "b.csv", DATA.assign(label=DATA["y"]))
    with pytest.raises(InputError, match=r"'y', 'label' may all be the label"):
        open_stream(two)
    assert open_stream(two, label="label", features=["f1"]).width == 1


def test_other_files_are_refused_with_the_endings_that_are_known(tmp_path: Path):
    for name, says in (
        (
            "a.json",
            r"ends in '\.json': .*\.parquet, \.pq, \.csv, \.tsv, \.npz, \.npy, \.svm, .*, \.txt",
        ),
        ("data", "has no suffix"),
        ("a.csv.bz2", "compress it with gzip"),
    ):
        (tmp_path / name).touch()
        with pytest.raises(InputError, match=says):
            open_stream(tmp_path / name)
    with pytest.raises(InputError, match=r"no file .*a\.csv"):
        open_stream(tmp_path / "a.csv")
    with pytest.raises(InputError, match=r"label is given for .*a\.npz: the columns of this file have no names"):
        open_stream(write(tmp_path / "a.npz"), label="y")


def test_rows_are_those_columns_that_the_model_knows(tmp_path: Path):
    mixed = csv(tmp_path / "a.csv", DATA.assign(name="Ann")[["name", "f2", "f1", "y", "f0"]])
    assert (open_rows(mixed, 3, features=("f0", "f1", "f2")) == X).all()
    with pytest.raises(InputError, match="no column 'f9'"):
        open_rows(mixed, 1, features=["f9"])
    unlabelled = parquet(tmp_path / "a.parquet", DATA.drop(columns="y"))
    assert (open_rows(unlabelled, 3) == X).all()
    assert (open_rows(unlabelled) == X).all()
    named = csv(tmp_path / "b.csv", DATA.rename(columns={"y": "kind"}))
    assert (open_rows(named, 3, label="kind") == X).all()
    numbers = csv(tmp_path / "c.csv", pd.DataFrame({"class": [1, 2], "b": [3, 4]}))
    assert open_rows(numbers, 2).tolist() == [[1, 3], [2, 4]]


def test_examples_have_one_class_only_if_need_be(tmp_path: Path):
    path = csv(tmp_path / "a.csv", DATA[DATA["y"] == "spam"])
    assert set(open_examples(path, ("ham", "spam"), 3).y.tolist()) == {1}


def test_a_pattern_without_an_ending_and_a_folder_that_is_not_there(tmp_path: Path):
    csv(tmp_path / "a.csv", DATA)
    (tmp_path / "readme.md").write_text("what this is")
    assert open_stream(f"{tmp_path}/*").length == 60
    assert open_stream(tmp_path / "a.*").length == 60
    with pytest.raises(InputError, match=r"no file .*none: it does not exist"):
        open_stream(tmp_path / "none")


@pytest.mark.parametrize("path", [5, None, [5], {"a.csv"}])
def test_what_is_no_path_is_refused(path: Any):
    for opening in (Table, open_stream):
        with pytest.raises(InputError, match=r"path is .*: it must be a path or a list of paths"):
            opening(path)


def test_the_index_of_a_frame_is_no_feature_unless_it_is_named(tmp_path: Path):
    data = DATA.set_index(pd.Index(range(100, 160), name="number"))
    for path in (tmp_path / "a.parquet", tmp_path / "b.parquet", tmp_path / "c.csv"):
        frames = {"a": data, "b": data.rename_axis(None).sample(frac=1, random_state=0).sort_index()}
        if path.suffix == ".csv":
            DATA.to_csv(path)
        else:
            frames[path.stem].to_parquet(path, index=True)
        stream = open_stream(path, shuffle=False)
        assert isinstance(stream, Table)
        assert stream.feature_names == ("f0", "f1", "f2")
        assert (stream.read(0, 60).x == X).all()
        assert (open_examples(path, ("ham", "spam"), 3).x == X).all()
        assert (open_rows(path, 3) == X).all()
        rows = Unlabelled.load(path, ("a", "b"), columns=["f1"])
        assert (rows.width, rows.columns) == (1, ("f1",))
    named = Table(tmp_path / "a.parquet", features=["f1", "number"], shuffle=False)
    assert named.read(0, 60).x[:, 1].tolist() == list(range(100, 160))
    two = Table([parquet(tmp_path / "0.parquet", DATA), tmp_path / "a.parquet"])
    assert (two.feature_names, two.rows) == (("f0", "f1", "f2"), 120)


def test_another_column_without_a_name_is_refused(tmp_path: Path):
    (tmp_path / "a.csv").write_text("a,,y\n1,2,0\n3,4,1\n")
    with pytest.raises(InputError, match=r"column 2 of .*a\.csv has no name"):
        Table(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("known", "more"), [("true false maybe", "true false"), ("01 02 x", "01 02"), ("NA US FR", "NA"), ("1 2 x", "2 1")]
)
def test_labels_of_a_csv_file_are_the_classes_of_the_stream_whichever_of_them_it_has(
    tmp_path: Path, known: str, more: str
):
    for name, labels in (("a", known), ("b", more)):
        (tmp_path / f"{name}.csv").write_text("a,y\n" + "".join(f"1,{label}\n" for label in labels.split()))
    stream = Table(tmp_path / "a.csv")
    test = open_examples(tmp_path / "b.csv", stream.classes, 1)
    assert [stream.classes[number] for number in test.y] == more.split()
