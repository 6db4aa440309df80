"""scikit-learn's own checks of an estimator, for our estimators."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator


def checks_of(
    estimators: Mapping[str, Any], applies: Callable[[str, str], bool] = lambda _name, _check: True
) -> list[Any]:
    """Every check of every estimator, as parameters of a test, where `applies` is true of the two names."""
    found: list[Any] = [(name, *pair) for name, each in estimators.items() for pair in estimator_checks_generator(each)]
    called = [(name, estimator, check, getattr(check, "func", check).__name__) for name, estimator, check in found]
    return [
        pytest.param(estimator, check, id=f"{name}-{called}")
        for name, estimator, check, called in called
        # The array API needs scipy imported in a mode of its own: see `assert_all_pass`.
        if called != "check_array_api_input" and applies(name, called)
    ]


def assert_all_pass(estimator: str) -> None:
    """All of `check_estimator`, with nothing skipped, for one of our estimators by its name."""
    code = (
        f"from sklearn.utils.estimator_checks import check_estimator; from paraactive import {estimator}; "
        f"done = check_estimator({estimator}(), on_skip=None, on_fail='raise'); "
        "print(len(done), *[check['check_name'] for check in done if check['status'] != 'passed'])"
    )
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    count, *others = done.stdout.split()
    assert int(count) > 60
    assert others == []
