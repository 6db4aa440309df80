"""Features that are made of columns: text as one feature for each value, large numbers centered, missing values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from paraactive import LaSVM, Model, resume, train
from paraactive.errors import InputError
from paraactive.runs.run import Run
from paraactive.streams import Table, Unlabelled, open_rows
from paraactive.streams.tables.feature_columns import MAX_VALUES, Feature, centered, one_hot, parse_feature
from paraactive.streams.tables.table_files import feature_names_for
from streams.tabling import csv, parquet

NOON = 1_700_000_000


def _trips(rows: int = 800, lacking: bool = False) -> pd.DataFrame:
    """The label depends on a text, on a time in seconds since 1970, and on a number."""
    rng = np.random.default_rng(0)
    city = rng.choice(["Bern", "Oslo", "Rome"], rows)
    time = NOON + rng.integers(0, 100, rows)
    age = rng.uniform(18, 80, rows)
    late = (time - NOON > 50) ^ (city == "Oslo")
    data: dict[str, Any] = {"city": city, "time": time, "age": age, "y": np.where(late, "late", "in time")}
    frame = pd.DataFrame(data)
    if lacking:
        frame.loc[::7, "age"] = np.nan
        frame.loc[::11, "city"] = None
    return frame


WRITE = pytest.mark.parametrize(("write", "suffix"), [(parquet, "parquet"), (csv, "csv")], ids=["parquet", "csv"])


@pytest.mark.parametrize(
    ("name", "feature"),
    [
        ("age", Feature("age")),
        ("city=Oslo", Feature("city", "Oslo")),
        ("city=", Feature("city", "")),
        ("a=b=c", Feature("a=b", "c")),
        ("a=b", Feature("a=b")),
        ("age - -1e+30", Feature("age", offset=-1e30)),
        ("x - 1", Feature("x - 1")),
        ("unknown=3", Feature("unknown=3")),
    ],
)
def test_a_name_says_how_a_feature_is_made(name: str, feature: Feature) -> None:
    columns = ["age", "city", "a", "a=b", "x - 1", "x"]
    assert parse_feature(name, columns) == feature
    assert parse_feature(feature.name, columns) == feature


@pytest.mark.parametrize(
    ("low", "high"), [(1.7e9, 1.7e9 + 99), (-3e10, -3e10 + 7), (1e8 + 0.25, 1e8 + 0.5), (2.0**50, 2.0**50 + 65536)]
)
def test_a_number_is_subtracted_such_that_float32_holds_the_differences(low: float, high: float) -> None:
    (feature,) = centered([Feature("a")], {"a": (low, high)})
    assert parse_feature(feature.name, ["a"]) == feature
    values = np.linspace(low, high, 4)
    held = (values - feature.offset).astype(np.float32).astype(np.float64)
    assert np.abs(held - (values - feature.offset)).max() <= 1e-3 * (high - low)


def test_columns_that_float32_can_hold_stay() -> None:
    features = [Feature("a"), Feature("b", "x"), Feature("c", offset=2.0), Feature("d")]
    assert centered(features, {"a": (-1.0, 1.0), "c": (1.7e9, 1.7e9 + 1), "d": (5.0, 5.0)}) == tuple(features)


def test_a_text_with_many_values_is_refused_with_their_number() -> None:
    many = {str(number) for number in range(MAX_VALUES + 1)}
    with pytest.raises(InputError, match=r"many values, 'b' \(101 values\): each value becomes one feature"):
        one_hot("a.csv", [Feature("a"), Feature("b")], {"b": many})
    assert len(one_hot("a.csv", [Feature("b")], {"b": many - {"7"}})) == MAX_VALUES


@WRITE
def test_a_text_is_a_feature_for_each_value(write: Any, suffix: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"trips.{suffix}", _trips(50))
    with pytest.raises(InputError, match=r"not numbers, 'city' .*encode='onehot'"):
        Table(path)
    table = Table(path, encode="onehot", shuffle=False)
    assert table.feature_names == ("city=Bern", "city=Oslo", "city=Rome", f"time - {NOON}", "age")
    x, frame = table.read(0, 50).x, _trips(50)
    for place, name in enumerate(("Bern", "Oslo", "Rome")):
        assert np.array_equal(x[:, place], (frame["city"] == name).to_numpy(np.float32))
    assert np.array_equal(x[:, 3], frame["time"].to_numpy() - NOON)
    assert np.allclose(x[:, 4], frame["age"].to_numpy())


def test_a_category_of_pandas_is_a_text(tmp_path: Path) -> None:
    frame = _trips(50).astype({"city": "category"})
    assert Table(parquet(tmp_path / "a.parquet", frame), encode="onehot").width == 5


@WRITE
def test_other_files_are_read_by_the_names_of_the_features(write: Any, suffix: str, tmp_path: Path) -> None:
    names = Table(write(tmp_path / f"trips.{suffix}", _trips()), encode="onehot").feature_names
    others = pd.DataFrame({"age": [20.0, 30.0], "city": ["Paris", "Rome"], "time": [NOON, NOON + 7]})
    x = open_rows(write(tmp_path / f"others.{suffix}", others), features=names)
    assert x.tolist() == [[0, 0, 0, 0, 20], [0, 0, 1, 7, 30]]


@WRITE
def test_missing_values_are_refused_with_the_columns_and_their_number(write: Any, suffix: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"trips.{suffix}", _trips(22, lacking=True))
    says = r"2 columns lack values: 'city' \(2\), 'age' \(4\); .*missing='mean'"
    with pytest.raises(InputError, match=says):
        Table(path, encode="onehot")


@WRITE
def test_missing_values_may_be_allowed(write: Any, suffix: str, tmp_path: Path) -> None:
    path = write(tmp_path / f"trips.{suffix}", _trips(22, lacking=True))
    x = Table(path, encode="onehot", missing="mean", shuffle=False).read(0, 22).x
    assert np.flatnonzero(np.isnan(x).any(axis=1)).tolist() == [0, 7, 14, 21]
    assert np.isnan(x[:, -1]).sum() == 4
    assert not x[::11, :3].any()
    infinite = _trips(22)
    infinite.loc[3, "age"] = np.inf
    with pytest.raises(InputError, match="has inf"):
        Table(write(tmp_path / f"infinite.{suffix}", infinite), encode="onehot", missing="mean").read(0, 22)


def test_only_known_ways_are_taken(tmp_path: Path) -> None:
    path = csv(tmp_path / "trips.csv", _trips(20))
    with pytest.raises(InputError, match="no encoding 'ordinal'"):
        Table(path, encode="ordinal")
    with pytest.raises(InputError, match="missing values 'median'"):
        Table(path, missing="median")


@WRITE
def test_a_run_learns_texts_times_and_missing_values_and_its_file_predicts(
    write: Any, suffix: str, tmp_path: Path
) -> None:
    frame = _trips(2000, lacking=True)
    path, out = write(tmp_path / f"trips.{suffix}", frame), tmp_path / "run.db"
    table = Table(path, encode="onehot", missing="mean", seed=3)

    def halfway(run: Run) -> bool:
        return run.seen >= 1000

    train(LaSVM(gap=0.2), table, out=out, nodes=1, stop=halfway)
    run = resume(out)
    whole = train(LaSVM(gap=0.2), table, nodes=1)
    assert run.learner.digest() == whole.learner.digest()
    Model.load(out).save(tmp_path / "trips.model")
    for model in (Model.load(out), Model.load(tmp_path / "trips.model")):
        x = open_rows(path, features=model.features, may_miss=model.fills_missing)
        present = frame["city"].notna().to_numpy()
        assert np.mean(model.predict(x)[present] != frame["y"].to_numpy()[present]) < 0.06
    assert run.evaluations == []
    assert train(LaSVM(gap=0.2), table, test=path, nodes=1).mistakes is not None


def test_rows_without_labels_have_the_same_features(tmp_path: Path) -> None:
    path = csv(tmp_path / "trips.csv", _trips(40, lacking=True).drop(columns="y"))
    names = feature_names_for(path, ["city", "time", "age"], "mean", "onehot")
    stream = Unlabelled.load(path, ("in time", "late"), columns=names, missing="mean")
    assert stream.missing == "mean"
    assert stream.width == 5
    assert np.isnan(stream.read(0, 40).x).any()
    with pytest.raises(InputError, match="lack values"):
        Unlabelled.load(path, ("in time", "late"), columns=names)


@pytest.mark.parametrize("features", [None, ["city=Oslo", "city", "age"]], ids=str)
def test_two_features_of_one_name_are_refused_when_the_table_is_opened(features: Any, tmp_path: Path) -> None:
    frame = _trips(50) if features else _trips(50).assign(**{"city=Oslo": 1.0})
    with pytest.raises(InputError, match="two features 'city=Oslo'"):
        Table(csv(tmp_path / "trips.csv", frame), encode="onehot", features=features)


def test_a_column_with_the_name_of_a_centered_one_is_refused(tmp_path: Path) -> None:
    frame = _trips(50).assign(**{f"time - {NOON}": 1.0})
    with pytest.raises(InputError, match=f"two features 'time - {NOON}'"):
        Table(csv(tmp_path / "trips.csv", frame), encode="onehot")


def test_texts_that_look_like_dates_in_one_csv_file_are_texts_there_too(tmp_path: Path) -> None:
    days = pd.DataFrame({"day": ["2024-01-01", "unknown"] * 10, "y": ["a", "b"] * 10})
    names = Table(csv(tmp_path / "days.csv", days), encode="onehot").feature_names
    assert names == ("day=2024-01-01", "day=unknown")
    only = csv(tmp_path / "only.csv", days[["day"]][::2])
    assert open_rows(only, features=names).tolist() == [[1, 0]] * 10
    assert Table(csv(tmp_path / "dates.csv", days[::2].assign(y=["a", "b"] * 5)), encode="onehot").width == 1


def test_a_column_of_another_type_without_a_known_value_is_refused(tmp_path: Path) -> None:
    names = ("flag=true", "flag=false", "flag=?")
    path = parquet(tmp_path / "rows.parquet", pd.DataFrame({"flag": [True, False]}))
    with pytest.raises(InputError, match=r"'flag' of .* \(bool\) has no value that is known"):
        open_rows(path, features=names)
