"""Text columns of X as one feature for each value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from paraactive import ParaActiveClassifier
from paraactive.errors import InputError
from paraactive.estimator.encoding import TextEncoder, encoder_for


def _trips(rows: int = 600) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    city = rng.choice(["Bern", "Oslo", "Rome"], rows)
    age = rng.uniform(18, 80, rows)
    return pd.DataFrame({"city": city, "age": age}), np.where((city == "Oslo") ^ (age > 50), "late", "in time")


def _fitted(X: Any, y: Any, **options: Any) -> ParaActiveClassifier:
    settings: dict[str, Any] = {"random_state": 0, "encode": "onehot", **options}
    return ParaActiveClassifier(**settings).fit(X, y)


def _as_categories(frame: pd.DataFrame) -> Any:
    return frame.astype({"city": "category"})


@pytest.mark.parametrize("make", [pd.DataFrame, _as_categories, pl.from_pandas, np.asarray], ids=str)
def test_a_classifier_learns_text_columns(make: Any) -> None:
    frame, y = _trips()
    X = make(frame)
    model: Any = _fitted(X, y)
    assert model.n_features_in_ == 2
    assert model.score(X, y) > 0.97
    assert np.array_equal(model.predict(X), _fitted(frame, y).predict(frame))


def test_a_text_column_is_refused_by_default_with_its_number_of_values() -> None:
    frame, y = _trips()
    with pytest.raises(InputError, match=r"'city' \(3 values\): features must be numbers; .*encode=\"onehot\""):
        ParaActiveClassifier().fit(frame, y)


def test_a_column_with_many_values_is_refused() -> None:
    frame, y = _trips()
    with pytest.raises(InputError, match=r"'name' \(600 values\)"):
        _fitted(frame.assign(name=[f"n{row}" for row in range(600)]), y)
    with pytest.raises(InputError, match="no encoding 'ordinal'"):
        _fitted(frame, y, encode="ordinal")


def test_a_value_that_is_not_known_is_0_everywhere() -> None:
    encoder = TextEncoder.of(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}))
    assert encoder.apply(pd.DataFrame({"a": ["z", "y"], "b": [3, 4]})).tolist() == [[0, 0, 3], [0, 1, 4]]
    assert encoder.texts.tolist() == [True, True, False]


def test_missing_texts_are_an_error_or_0() -> None:
    frame, y = _trips()
    frame.loc[3, "city"], frame.loc[[4, 5], "age"] = None, np.nan
    with pytest.raises(InputError, match=r"2 columns: 'city' \(1\), 'age' \(2\)"):
        _fitted(frame, y)
    model = _fitted(frame, y, missing="mean")
    assert model.score(frame, y) > 0.95
    assert len(model.predict(frame.iloc[3:6])) == 3


def test_numbers_of_pandas_that_know_na_are_numbers() -> None:
    frame = pd.DataFrame({"a": ["x", "y"], "b": pd.array([1, None], "Int64")})
    found = TextEncoder.of(frame).apply(frame)
    assert found[0].tolist() == [1, 0, 1]
    assert np.isnan(found[1, 2])


def test_the_same_columns_are_wanted_later() -> None:
    frame, y = _trips()
    model = _fitted(frame, y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["age", "city"]])
    model = ParaActiveClassifier(encode="onehot").partial_fit(frame[:300], y[:300], classes=["in time", "late"])
    assert model.partial_fit(frame[300:], y[300:]).score(frame, y) > 0.9


def test_nothing_is_encoded_by_default() -> None:
    assert encoder_for(np.zeros((3, 2)), None) is None
    assert encoder_for(pd.DataFrame({"a": [1.0]}), None) is None
    with pytest.raises(InputError, match="1 dimension"):
        encoder_for(np.zeros(3), "onehot")


def test_numbers_in_a_text_column_are_values_and_not_missing() -> None:
    frame = pd.DataFrame({"a": np.array(["A", "B", 7, 8.0], object)})
    encoder = TextEncoder.of(frame)
    assert encoder.values == (("7", "8", "A", "B"),)
    assert encoder.apply(frame).sum(axis=1).tolist() == [1, 1, 1, 1]
    assert encoder.apply(pd.DataFrame({"a": [7, 9]})).tolist() == [[1, 0, 0, 0], [0, 0, 0, 0]]


def test_missing_values_of_any_kind_are_missing() -> None:
    frame = pd.DataFrame(
        {"a": np.array(["A", None, pd.NA, np.nan], object), "b": np.array([1, None, pd.NA, 2], object)}
    )
    found = TextEncoder.of(frame).apply(frame)
    assert np.isnan(found).tolist() == [[False, False], [True, True], [True, True], [True, False]]


def test_dates_and_new_text_in_a_column_of_numbers_are_refused() -> None:
    dates = pd.DataFrame({"a": ["A", "B"], "when": pd.to_datetime(["2024-01-01", None])})
    with pytest.raises(InputError, match=r"the column 'when' of X .*convert dates"):
        TextEncoder.of(dates).apply(dates)
    encoder = TextEncoder.of(pd.DataFrame({"a": ["A", "B"], "b": [1, 2]}))
    with pytest.raises(InputError, match="the column 'b' of X"):
        encoder.apply(pd.DataFrame({"a": ["A"], "b": ["many"]}))
