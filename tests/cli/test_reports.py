"""report, watch, --verbose and trackers on the command line: what a person sees, what a machine gets."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from cli.command_line import Printed, complaint, figures
from making import two_moons
from paraactive import Arrays, LaSVM, train
from paraactive.cli import app


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make_run(path: str, seed: int = 0) -> str:
    x, y = two_moons(1200, noise=0.3, seed=seed)
    train(LaSVM(gamma=1.0), Arrays(x, y), test=(x[:200], y[:200]), warmstart=200, batch=100, out=path, nodes=1)
    return path


def test_report_writes_a_page_beside_the_run(capsys: Printed) -> None:
    make_run("run.db")
    assert app.run(["report", "run.db"]) == 0
    assert "The page is run.html" in capsys.readouterr().out
    assert "Sampling rate" in Path("run.html").read_text()
    assert app.run(["report", "run.db"]) == 0, "its own page may be made anew"


def test_report_compares_and_speaks_json(capsys: Printed) -> None:
    found = figures(capsys, "report", make_run("a.db"), make_run("b.db", seed=1), "--out", "ab.html")
    assert found["page"] == "ab.html"
    assert found["runs"] == ["a.db", "b.db"]
    assert Path("ab.html").stat().st_size == found["bytes"]


def test_report_overwrites_nothing_unasked(capsys: Printed) -> None:
    make_run("run.db")
    Path("mine.html").write_text("<!DOCTYPE html> mine")
    assert "mine.html already exists" in complaint(capsys, "report", "run.db", "--out", "mine.html")
    assert app.run(["report", "run.db", "--out", "mine.html", "--overwrite"]) == 0
    Path("run.html").write_text("my notes")
    capsys.readouterr()
    assert "run.html already exists: it was not written by report" in complaint(capsys, "report", "run.db")
    assert Path("run.html").read_text() == "my notes"


def test_report_never_replaces_a_run_or_a_page_of_somebody_else(capsys: Printed) -> None:
    make_run("run.db")
    before = Path("run.db").read_bytes()
    assert "is a run file" in complaint(capsys, "report", "run.db", "--out", "run.db", "--overwrite")
    assert Path("run.db").read_bytes() == before
    Path("run.html").write_text("<!DOCTYPE html><title>mine</title>")
    assert "run.html already exists: it was not written by report" in complaint(capsys, "report", "run.db")


def test_report_with_mistakes(capsys: Printed) -> None:
    make_run("run.db")
    assert "no run file" in complaint(capsys, "report", "nothing.db")
    assert "give it as 28x28" in complaint(capsys, "report", "run.db", "--image", "28")
    assert "have 2 features" in complaint(capsys, "report", "run.db", "--image", "28x28")
    assert "cannot write" in complaint(capsys, "report", "run.db", "--out", "nowhere/page.html")
    assert "no run file" in complaint(capsys, "watch", "nothing.db")
    assert "port" in complaint(capsys, "watch", "run.db", "--port", "99999")


def test_watch_serves_until_it_is_interrupted(capsys: Printed) -> None:
    make_run("run.db")
    command = [sys.executable, "-m", "paraactive", "watch", "run.db", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        address = json.loads(process.stdout.readline())["address"]
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(address, timeout=30) as answer:
            assert b"Sampling rate" in answer.read()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(timeout=30) == 0
        assert process.stderr.read() == ""
