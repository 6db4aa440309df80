"""Runs on tables: on several engines, resumed from a run file, with test sets in files."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from making import two_moons
from paraactive import LaSVM, resume, train
from paraactive.basics.part_spec import PartSpec
from paraactive.data.examples import SparseRows
from paraactive.errors import InputError
from paraactive.runs.evaluation import TestSource, find_test
from paraactive.runs.replay import replay
from paraactive.sifting.parts import build_stream, check_same_stream, describe_stream
from paraactive.streams import Arrays, Table
from streams.tabling import csv, parquet

X, Y = two_moons(1200, noise=0.2, seed=1)
DATA: Any = pd.DataFrame({"a": X[:, 0], "kind": np.where(Y > 0, "up", "down"), "b": X[:, 1]})


def svm() -> LaSVM:
    return LaSVM(gamma=1.0, gap=0.2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return parquet(tmp_path / "moons.parquet", DATA, row_group=100)


def test_the_model_is_the_same_on_threads_and_on_processes(path: Path, tmp_path: Path):
    options: dict[str, Any] = {"warmstart": 100, "batch": 100}
    logs: list[Any] = []
    for engine, nodes in (("threads", 1), ("threads", 3), ("processes", 2)):
        out = tmp_path / f"{engine}{nodes}.db"
        run = train(svm(), Table(path, "kind"), engine=engine, nodes=nodes, out=out, **options)
        with closing(sqlite3.connect(out)) as file:
            logs.append((run.learner.digest(), file.execute("SELECT * FROM entries ORDER BY sequence").fetchall()))
    assert len(logs[0][1]) > 100
    assert logs[0] == logs[1] == logs[2]


def test_a_csv_file_is_learnt_as_the_parquet_file_is(path: Path, tmp_path: Path):
    runs = [
        train(svm(), Table(each, "kind", shuffle=False), warmstart=100, batch=100, nodes=1)
        for each in (path, csv(tmp_path / "moons.csv", DATA))
    ]
    assert runs[0].learner.digest() == runs[1].learner.digest()
    assert runs[0].selected == runs[1].selected


def test_a_run_is_resumed_from_its_files_alone(path: Path, tmp_path: Path):
    out = tmp_path / "run.db"
    options: dict[str, Any] = {"warmstart": 100, "batch": 100, "nodes": 1}
    whole = train(svm(), Table(path, "kind", passes=2, seed=3), **options)
    train(svm(), Table(path, "kind", passes=2, seed=3), examples=900, out=out, test=path, **options)
    run = resume(out, examples=2400)
    assert run.learner.digest() == whole.learner.digest()
    assert run.evaluations[-1].test_examples == 1200
    assert replay(out).learner.digest() == whole.learner.digest()


def test_a_run_is_not_resumed_on_other_data(path: Path, tmp_path: Path):
    out = tmp_path / "run.db"
    train(svm(), Table(path, "kind"), examples=600, out=out, warmstart=100, batch=100, nodes=1)
    parquet(path, DATA[::-1], row_group=100)
    with pytest.raises(InputError, match=r"moons\.parquet is not what the run was trained on"):
        resume(out, examples=700)
    path.unlink()
    with pytest.raises(InputError, match="no file"):
        resume(out, examples=700)


def test_a_table_is_known_again_by_its_description(path: Path):
    known = PartSpec.from_dict(json.loads(json.dumps(describe_stream(Table(path, "kind")).to_dict())))
    assert known.kind == "table"
    assert describe_stream(build_stream(known)) == known
    check_same_stream(Table(path, "kind", passes=9), known)
    for other in (Table(path, "kind", seed=5), Table(path, "kind", shuffle=False)):
        with pytest.raises(InputError, match="the stream given has"):
            check_same_stream(other, known)
    with pytest.raises(InputError, match="fingerprint"):
        check_same_stream(Table(path, "kind", features=["a"]), known)


def test_several_files_are_found_again(tmp_path: Path):
    files = [parquet(tmp_path / f"{number}.parquet", DATA[number::3]) for number in range(3)]
    for given in (files, tmp_path):
        known = describe_stream(Table(given, "kind"))
        assert describe_stream(build_stream(known)) == known


@pytest.mark.parametrize("name", ["test.csv", "test.parquet", "test.npz", "test.svm"])
def test_a_test_set_comes_from_any_kind_of_file(path: Path, tmp_path: Path, name: str):
    stream = Table(path, "kind") if name[-3:] in ("csv", "uet") else Arrays(X, Y)
    if name.endswith("npz"):
        np.savez(tmp_path / name, x=X, y=Y)
    elif name.endswith("svm"):
        lines = [f"{label} 1:{x[0]} 2:{x[1]}\n" for x, label in zip(X.tolist(), Y.tolist(), strict=True)]
        (tmp_path / name).write_text("".join(lines))
    else:
        (csv if name.endswith("csv") else parquet)(tmp_path / name, DATA[["kind", "b", "a"]])
    test = find_test(tmp_path / name, stream)
    assert test.examples is not None
    assert test.source == TestSource("file", str(tmp_path / name))
    x = test.examples.x
    assert ((x.dense() if isinstance(x, SparseRows) else x) == X).all()
    assert (test.examples.y == Y).all()


def test_a_test_set_of_a_stream_without_names_finds_its_label(tmp_path: Path):
    test = find_test(csv(tmp_path / "test.csv", DATA.rename(columns={"kind": "label"})), Arrays(X, DATA["kind"]))
    assert test.examples is not None
    assert (test.examples.y == Y).all()


def test_mistakes_are_counted_on_a_csv_file(path: Path, tmp_path: Path):
    test = csv(tmp_path / "test.csv", DATA)
    run = train(svm(), Table(path, "kind"), warmstart=100, batch=100, nodes=1, test=test)
    assert run.evaluations[-1].mistakes < 60


def test_weights_of_a_column_count(path: Path, tmp_path: Path):
    heavy = parquet(tmp_path / "heavy.parquet", DATA.assign(weight=np.where(Y > 0, 5.0, 1.0)))
    options: dict[str, Any] = {"warmstart": 100, "batch": 100, "nodes": 1}
    runs = [train(svm(), table, **options) for table in (Table(heavy, "kind", weight="weight"), Table(path, "kind"))]
    assert runs[0].learner.digest() != runs[1].learner.digest()
