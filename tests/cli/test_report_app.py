"""The commands that show runs, as they are registered."""

from __future__ import annotations

import pytest

from cli.command_line import example_of
from paraactive.cli import report_app


@pytest.mark.parametrize("command", [report_app.report, report_app.watch, report_app.reproduce, report_app.plan])
def test_each_command_is_registered_with_an_example(command: object) -> None:
    assert getattr(command, "__name__", "") in example_of(command)
