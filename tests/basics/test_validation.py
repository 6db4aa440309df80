"""Checks of names and numbers: the plain value, or an error that names the parameter and the remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paraactive.basics.validation import fraction, number, one_of, positive, truth, whole
from paraactive.errors import InputError

GOOD: list[tuple[Callable[..., object], Any, object]] = [
    (truth, True, True),
    (whole, np.int64(7), 7),
    (whole, -3, -3),
    (number, np.float32(0.5), 0.5),
    (number, -1, -1.0),
    (positive, np.float64(2), 2.0),
    (fraction, 1, 1.0),
]
BAD: list[tuple[Callable[..., object], Any]] = [
    *((truth, value) for value in (1, 0, "yes", None, np.bool_(True))),
    *((whole, value) for value in (1.0, "1", None, True, np.bool_(True), [1])),
    *((number, value) for value in (float("nan"), float("inf"), "1", None, True, [1.0, 2.0])),
    *((positive, value) for value in (0, -1, float("nan"), float("inf"), "1", None, True)),
    *((fraction, value) for value in (0, -0.1, 1.1, float("nan"), "1", None, True)),
]


@pytest.mark.parametrize(("check", "value", "plain"), GOOD)
def test_a_good_value_comes_back_as_a_plain_one(check: Callable[..., object], value: Any, plain: object) -> None:
    found = check("eta", value)
    assert found == plain
    assert type(found) is type(plain)


@pytest.mark.parametrize(("check", "value"), BAD)
def test_a_bad_value_is_an_error_that_names_the_parameter(check: Callable[..., object], value: Any) -> None:
    with pytest.raises(InputError, match=r"^eta is .+: .+; give "):
        check("eta", value)


def test_a_whole_number_may_have_a_lower_bound() -> None:
    assert whole("nodes", 1, 1) == 1
    with pytest.raises(InputError, match=r"nodes is 0: .*give nodes >= 1"):
        whole("nodes", 0, 1)


def test_an_unknown_name_is_told_the_known_ones_and_the_nearest() -> None:
    known = ["margin", "signed"]
    assert one_of("rule", "signed", known) == "signed"
    with pytest.raises(InputError, match=r"no rule 'sined': the known rules are margin, signed; did you mean 'signed'"):
        one_of("rule", "sined", known)
    with pytest.raises(InputError, match="name one of these as the rule"):
        one_of("rule", "zzz", known)
    with pytest.raises(InputError, match="or give a file"):
        one_of("task", "zzz", known, otherwise="or give a file")
