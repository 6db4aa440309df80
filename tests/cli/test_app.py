"""The command line as a whole: help, ways to call it, and one clear line for a wrong command."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import paraactive
from cli.command_line import COMMANDS, Printed, complaint
from paraactive.cli import app


def shell(*arguments: str, program: tuple[str, ...] = (sys.executable, "-m", "paraactive")) -> tuple[int, str, str]:
    """The same in a process of its own."""
    done = subprocess.run([*program, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example(command: str, capsys: Printed):
    assert app.run([command, "--help"]) == 0
    out, error = capsys.readouterr()
    assert re.search(f"Examples?: paraactive {command}", out)
    assert "--json" in out
    assert error == ""


def test_the_help_names_every_command(capsys: Printed):
    assert app.run(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(command in out for command in COMMANDS)


def test_no_command_at_all_shows_the_help_and_no_error(capsys: Printed):
    assert app.run([]) == 2
    out, error = capsys.readouterr()
    assert "Usage: " in out
    assert error == ""


@pytest.mark.parametrize(
    "program", [(sys.executable, "-m", "paraactive"), (f"{Path(sys.executable).parent}/paraactive",)]
)
def test_both_ways_to_call_it_work(program: tuple[str, ...]):
    assert shell("--version", program=program) == (0, f"paraactive {paraactive.__version__}\n", "")


def test_the_help_does_not_wait_for_numba():
    program = (
        "import sys; from paraactive.cli import app; app.run(['train', '--help']); sys.exit('numba' in sys.modules)"
    )
    code, out, _ = shell(program, program=(sys.executable, "-c"))
    assert "Example" in out
    assert code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["train"], "Missing argument 'TASK_OR_FILE'"),
        (["resume"], "Missing argument 'RUN'"),
        (["fit", "data.npz"], "No such command 'fit'"),
        (["--nope"], "No such option: --nope"),
        (["replay", "a.db", "b.db"], "Got unexpected extra argument"),
    ],
)
def test_a_wrong_command_line_is_one_clear_line(arguments: list[str], said: str, capsys: Printed):
    assert complaint(capsys, *arguments).startswith(said)


def test_a_mistake_in_a_process_of_its_own_is_one_line_without_a_traceback():
    code, out, error = shell("train", "data.npz", "--eta", "0", "--json")
    assert (code, out) == (2, "")
    assert error.startswith("paraactive: error: --eta is 0.0: ")
    assert error.count("\n") == 1
