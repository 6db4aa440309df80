"""The commands that use a model, as they are registered."""

from __future__ import annotations

import pytest

from cli.command_line import example_of
from paraactive.cli import model_app


@pytest.mark.parametrize(
    "command", [model_app.predict, model_app.evaluate, model_app.heaviest, model_app.query, model_app.save]
)
def test_each_command_is_registered_with_an_example(command: object) -> None:
    assert getattr(command, "__name__", "") in example_of(command)
