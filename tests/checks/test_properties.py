"""Functions that all checks share."""

from __future__ import annotations

import numpy as np
import pytest

from paraactive.checks.properties import arrays_of, attempt, random_pieces, rebuilt, require, same_bits
from paraactive.data.examples import Examples, SparseRows
from paraactive.errors import CheckError
from paraactive.rules import PaperMargin


def a_number_is_positive(number: float) -> None:
    require(number > 0, f"the number is {number}", why="it is a count", remedy=f"give {1 / number:g}")


def test_a_failed_property_is_named_with_fact_reason_and_remedy() -> None:
    attempt(a_number_is_positive, 1.0)
    with pytest.raises(CheckError, match=r"^'a number is positive' does not hold, .*is -2.*a count; give -0.5"):
        attempt(a_number_is_positive, -2.0)


def test_another_exception_is_named_and_kept_as_the_cause() -> None:
    with pytest.raises(CheckError, match=r"'a number is positive' .* raised ZeroDivisionError") as error:
        attempt(a_number_is_positive, 0)
    assert isinstance(error.value.__cause__, ZeroDivisionError)


def test_bits_differ_in_the_sign_of_zero_and_in_the_dtype_and_agree_in_nan() -> None:
    assert same_bits(np.array([np.nan]), np.array([np.nan]))
    assert not same_bits(np.array([0.0]), np.array([-0.0]))
    assert not same_bits(np.array([1], np.int32), np.array([1], np.int64))


@pytest.mark.parametrize("count", [0, 1, 2, 50])
def test_pieces_cover_all_rows_in_order_and_one_has_a_single_row(count: int) -> None:
    pieces = list(random_pieces(count, np.random.default_rng(0)))
    assert [row for piece in pieces for row in range(piece.start, piece.stop)] == list(range(count))
    assert count == 0 or any(piece.stop - piece.start == 1 for piece in pieces)


def test_the_features_of_sparse_rows_are_three_arrays() -> None:
    x, y, index = np.eye(2, dtype=np.float32), np.array([-1, 1], np.int8), np.arange(2)
    assert "x" in arrays_of(Examples(x, y, index))
    assert {"x.data", "x.indices", "x.indptr"} <= arrays_of(Examples(SparseRows.of(x), y, index)).keys()


def test_a_rule_is_rebuilt_from_its_description() -> None:
    assert rebuilt(PaperMargin(0.3)) == PaperMargin(0.3)
