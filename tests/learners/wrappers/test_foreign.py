from __future__ import annotations

import pytest

from paraactive.errors import InputError
from paraactive.learners.wrappers.foreign import reraise_as_input_error


def test_an_error_of_another_library_is_one_line_with_its_cause() -> None:
    cause = ValueError("two\n  lines")
    said = "it failed: ValueError: two lines; try again"
    with pytest.raises(InputError, match=said) as caught, reraise_as_input_error("it failed", "try again"):
        raise cause
    assert caught.value.__cause__ is cause


def test_an_error_without_text_is_named_by_its_class() -> None:
    said = "it failed: ZeroDivisionError; try again"
    with pytest.raises(InputError, match=said), reraise_as_input_error("it failed", "try again"):
        raise ZeroDivisionError


def test_our_own_errors_and_interrupts_pass() -> None:
    ours = InputError("a", why="b", remedy="c")
    for error in (ours, KeyboardInterrupt()):
        with pytest.raises(type(error)) as caught, reraise_as_input_error("it failed", "try again"):
            raise error
        assert caught.value is error
