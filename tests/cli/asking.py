"""A command line run as a user or a program would, and what it must look like."""

from __future__ import annotations

import json
from typing import Any

import pytest

from paraactive.cli import app

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
