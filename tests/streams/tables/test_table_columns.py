"""The columns of a table: by name, by default, and what is refused."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from paraactive.errors import InputError
from paraactive.streams.tables.table_columns import check_column, check_names, check_types, choose_columns

KINDS: dict[str, Any] = {
    "id": pa.int64(),
    "age": pa.int8(),
    "cost": pa.float64(),
    "note": pa.string(),
    "y": pa.string(),
}


def test_features_are_by_default_all_columns_but_label_weight_and_index() -> None:
    chosen = choose_columns("a.csv", KINDS, ("id",), None, "y", "cost")
    assert chosen.columns == ("age", "note")
    assert chosen.label_and_weight == ("y", "cost")
    assert chosen.numbers == ("age", "note", "cost")
    assert chosen.names == ("age", "note", "y", "cost")
    assert chosen.all_others
    alone = choose_columns("a.csv", KINDS, ("id",), None, None, None)
    assert (alone.columns, alone.label_and_weight) == (("age", "cost", "note", "y"), ())


def test_features_that_are_named_keep_their_order_and_may_be_the_index() -> None:
    chosen = choose_columns("a.csv", KINDS, ("id",), ["cost", "id"], "y", None)
    assert (chosen.columns, chosen.all_others) == (("cost", "id"), False)
    assert choose_columns("a.csv", KINDS, (), "age", "y", None).columns == ("age",)


@pytest.mark.parametrize(
    ("name", "says"), [("AGE", "did you mean 'age'"), ("agge", "did you mean 'age'"), ("zzz", "name one of these")]
)
def test_a_column_that_is_missing_is_refused_with_the_most_similar_name(name: str, says: str) -> None:
    with pytest.raises(InputError, match=f"no column '{name}' in a.csv: .*{says}"):
        check_column("a.csv", name, list(KINDS))
    check_column("a.csv", "age", list(KINDS))


def test_types_and_names_of_columns_are_checked() -> None:
    check_types("a.csv", KINDS, choose_columns("a.csv", KINDS, (), ["age"], "y", "cost"))
    with pytest.raises(InputError, match=r"not numbers, 'note' \(string\).*features=\['age'\]"):
        check_types("a.csv", KINDS, choose_columns("a.csv", KINDS, ("id", "cost"), None, "y", None))
    times = KINDS | {"y": pa.timestamp("s")}
    with pytest.raises(InputError, match=r"the label 'y' of a.csv is of type timestamp"):
        check_types("a.csv", times, choose_columns("a.csv", times, (), ["age"], "y", None))
    check_names("a.csv", ["a", "b"])
    with pytest.raises(InputError, match=r"a\.csv has two columns 'b'"):
        check_names("a.csv", ["b", "a", "b"])
