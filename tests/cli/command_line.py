"""Runs a command line as a user or a program would, on a small data set."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from making import two_moons
from paraactive.cli import app

X, Y = two_moons(1200, noise=0.3, seed=0)
NAMES = np.where(Y > 0, "spam", "ham")
DIGITS = ["train", "digits-31v57", "--examples", "1000", "--batch", "200", "--warmstart", "200"]
Printed = pytest.CaptureFixture[str]
COMMANDS = [
    "demo",
    "train",
    "resume",
    "replay",
    "resize",
    "plan",
    "reproduce",
    "predict",
    "evaluate",
    "save",
    "query",
    "heaviest",
    "report",
    "watch",
]


def figures(printed: Printed, *arguments: str) -> dict[str, Any]:
    """The one JSON object that this command line prints, and nothing else on either side."""
    assert app.run([*arguments, "--json"]) == 0
    out, error = printed.readouterr()
    assert error == ""
    return json.loads(out)


def complaint(printed: Printed, *arguments: str) -> str:
    """The one line that this command line complains with."""
    assert app.run([*arguments]) == 2
    out, error = printed.readouterr()
    assert out == ""
    assert error.startswith("paraactive: error: ")
    assert error.endswith("\n")
    assert error.count("\n") == 1
    return error.removeprefix("paraactive: error: ").rstrip("\n")


def example_of(command: object) -> str:
    """The example in the help of a command that is registered."""
    (found,) = [each for each in app.app.registered_commands if each.callback is command]
    return found.epilog or ""
