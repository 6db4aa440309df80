"""What the README shows must run."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_python_code_runs_and_sifts(tmp_path: Path) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    counts, scores = done.stdout.splitlines()
    seen, selected, rate = counts.split()
    assert int(seen) == 50_000
    assert int(selected) < 10_000
    assert float(rate) < 0.1
    assert scores.split() == ["inside", "outside"]
    assert (tmp_path / "circle.db").exists()


def test_the_commands_named_are_commands() -> None:
    from paraactive.cli.app import run

    commands = set(re.findall(r"^    paraactive (\w+)", README, re.MULTILINE))
    assert commands == {"demo", "train", "resume", "replay", "plan", "reproduce", "predict", "evaluate", "save"}
    assert "`paraactive resize run.db --nodes 4`" in README
    for command in commands:
        assert run([command, "--help"]) == 0


@pytest.mark.parametrize("name", re.findall(r"\]\(([^)#:]+)\)", README))
def test_links_lead_somewhere(name: str) -> None:
    assert (Path(__file__).parent.parent / name).exists()
