"""What the README shows must run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cli.asking import COMMANDS

README = (Path(__file__).parent.parent / "README.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def _run(code: str, folder: Path) -> list[str]:
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _block(word: str) -> str:
    (code,) = [block for block in BLOCKS if word in block]
    return code


def test_there_is_a_test_for_every_block() -> None:
    assert len(BLOCKS) == 4


def test_the_classifier(tmp_path: Path) -> None:
    accuracy, selected, rate, rule = _run(_block("ParaActiveClassifier"), tmp_path)[0].split(maxsplit=3)
    assert float(accuracy) > 0.96
    assert int(selected) < 15_000
    assert float(rate) < 0.4
    assert rule.startswith("SignedMargin(eta=")


def test_a_run_and_its_file(tmp_path: Path) -> None:
    counts, scores = _run(_block("circle.db"), tmp_path)
    seen, selected, rate = counts.split()
    assert int(seen) == 50_000
    assert int(selected) < 10_000
    assert float(rate) < 0.1
    assert scores.split() == ["inside", "outside"]
    assert (tmp_path / "circle.db").exists()


def test_a_torch_module(tmp_path: Path) -> None:
    found = re.fullmatch(
        r"(\d+) mistakes of 10 000, (\d+)% of the digits learnt after the warmstart",
        _run(_block("TorchLearner"), tmp_path)[0],
    )
    assert found
    assert int(found[1]) < 800
    assert int(found[2]) < 60


def test_an_oracle(tmp_path: Path) -> None:
    said = _run(_block("Oracle"), tmp_path)[0].split()
    assert int(said[0]) <= 5_000
    assert int(said[3]) <= 500


def test_the_commands_named_are_commands() -> None:
    from paraactive.cli.app import run

    commands = set(re.findall(r"^    paraactive (\w+)", README, re.MULTILINE))
    assert commands == set(COMMANDS) - {"resize"}
    assert "`paraactive resize run.db --nodes 4`" in README
    for command in commands:
        assert run([command, "--help"]) == 0


def test_the_options_named_are_options() -> None:
    from typer.main import get_command

    from paraactive.cli.app import app

    known = get_command(app).commands  # pyright: ignore
    for command, rest in re.findall(r"^    paraactive (\w+) (.*)$", README, re.MULTILINE):
        options = {name for parameter in known[command].params for name in parameter.opts}
        assert set(re.findall(r"(--[\w-]+)", rest.split("#")[0])) <= options


@pytest.mark.parametrize("name", re.findall(r"\]\(([^)#:]+)\)", README))
def test_links_lead_somewhere(name: str) -> None:
    assert (Path(__file__).parent.parent / name).exists()
