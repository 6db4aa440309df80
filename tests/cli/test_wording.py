"""Messages on the command line speak of options, not of Python."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import paraactive
from cli.command_line import Printed, complaint
from making import two_moons
from paraactive.cli.wording import in_options
from paraactive.errors import ParaActiveError, counted

X, SIDE = two_moons(300, noise=0.1, seed=0)
OPTIONS = {"label": "--label", "features": "--features", "set_aside": "--set-aside", "nodes": "--nodes", "C": "--C"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "name": "x", "clicked": SIDE}).to_csv("data.csv", index=False)
    np.savez("data.npz", x=X, y=SIDE)
    stream = paraactive.Arrays(X, SIDE)
    paraactive.train(paraactive.LaSVM(gamma=2.0), stream, warmstart=100, batch=100, out="memory.db")


SAID: dict[str, str] = {
    "train data.csv": "name the label column, as --label clicked.",
    "train data.csv --label clicked": "make one feature of each value of a text column with --encode onehot.",
    "train data.csv --label clicked --features a,a": "'a' twice: each column is one feature; name it once.",
    "train data.npz --label y": "of this file have no names; leave it out, or write",
    "train data.npz --weight w": "--weight is given for data.npz: ",
    "train data.npz --eta 0": "--eta is 0.0: ",
    "train data.npz --set-aside -1": "--set-aside is -1.0: it must be a positive number; give --set-aside > 0.",
    "train data.npz --cache-size -1": "--cache-size is -1.0: ",
    "train data.npz --schedule sequential --nodes 2": "give --nodes 1, or --schedule synchronous.",
    "train data.npz --delay 2": "only --schedule asynchronous has it; leave it out, or give --schedule asynchronous.",
    "train data.npz --engine ray": "say how many nodes, as --nodes 8.",
    "train data.npz --out memory.db": "give another name, or --overwrite it.",
    "train data.npz --examples 301": "--examples is 301: the stream ends after 300; ",
    "train data.npz --nodes 0": "--nodes is 0: ",
    "plan memory.db --latency -1": "--latency is -1.0: it is a time; give --latency >= 0, in seconds.",
    "save memory.db --out data.csv": "a file is replaced only on request; give another name, or --overwrite.",
}  # fmt: skip
PYTHON = re.compile(r"\b[a-z_]+=|=True|\bNone\b|\(\.\.\.\)")


@pytest.mark.parametrize("line", SAID)
def test_a_mistake_on_the_command_line_names_options(line: str, capsys: Printed) -> None:
    said = complaint(capsys, *line.split())
    assert SAID[line] in said
    assert not PYTHON.search(said)


@pytest.mark.parametrize(
    ("remedy", "expected"),
    [
        ("name it as label=...", "name it as --label COLUMN"),
        ("as features=[...], or features=['a', 'b', ...]", "as --features a,b,c, or --features a,b"),
        ("give label='two words'", "give --label 'two words'"),
        ("give 0 < C <= 1, or nodes >= 3", "give 0 < --C <= 1, or --nodes >= 3"),
        ("give set_aside=0.5, as nodes=100_000", "give --set-aside 0.5, as --nodes 100000"),
        ("hand it over in Python, as resume(path, stream=...)", "hand it over in Python, as resume(path, stream=...)"),
        ("name the label of each row, as 'x'", "name the label of each row, as 'x'"),
    ],
)  # fmt: skip
def test_python_becomes_options(remedy: str, expected: str) -> None:
    error = ParaActiveError("a fact", why="a reason", remedy=remedy)
    assert in_options(error, OPTIONS) == f"a fact: a reason; {expected}."
    assert in_options(error, {}) == str(error)


def test_in_python_messages_speak_of_python(tmp_path: Path) -> None:
    with pytest.raises(ParaActiveError, match="as label='clicked'"):
        paraactive.streams.open_stream("data.csv")


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (X[:1], SIDE[:2], "x has 1 row and y has 2 labels"),
        (X[:2], SIDE[:1], "x has 2 rows and y has 1 label:"),
        (X[:, :1], SIDE, "the rows have 1 feature, and those of the stream have 2"),
    ],
)
def test_one_thing_is_not_several(x: Any, y: Any, said: str, capsys: Printed) -> None:
    np.savez("test.npz", x=x, y=y)
    assert said in complaint(capsys, "train", "data.npz", "--test", "test.npz")
    assert counted(1, "entry", "entries") == "1 entry"


def test_no_message_has_a_plural_in_brackets() -> None:
    root = Path(paraactive.__file__).parent
    found = [path for path in root.rglob("*.py") if re.search(r"[a-z](?<!sqrt)\(s\)", path.read_text())]
    assert found == []
