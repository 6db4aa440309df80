"""The commands that train, as they are registered."""

from __future__ import annotations

import pytest

from cli.command_line import example_of
from paraactive.cli import training_app


@pytest.mark.parametrize("command", ["demo", "train", "resume", "replay", "resize"])
def test_each_command_is_registered_with_an_example(command: str) -> None:
    assert f"paraactive {command}" in example_of(getattr(training_app, command))
