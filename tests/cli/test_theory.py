"""plan, reproduce, and the options of the theory: what a person sees, what a machine gets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paraactive
from cli.command_line import Printed, complaint, figures
from making import two_moons
from paraactive.cli import app


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    x, y = two_moons(1200, noise=0.3, seed=0)
    np.savez("data.npz", x=x, y=y)
    return tmp_path


@pytest.fixture
def run_file() -> str:
    data = paraactive.Arrays.load("data.npz")
    learner = paraactive.LaSVM(gamma=1.0)
    paraactive.train(learner, data, engine="simulated", warmstart=200, batch=100, out="run.db")
    return "run.db"


def test_plan_says_how_many_nodes_pay_and_why(run_file: str, capsys: Printed) -> None:
    assert app.run(["plan", run_file]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "S(m), to score an example" in out
    assert "are not worth using: each doubling saves less than 10%" in out or "would still be faster" in out
    assert "updates each node receives fewer bytes" in out
    assert "Error of the prediction:" in out
    assert "1024" in out


def test_plan_as_json(run_file: str, capsys: Printed) -> None:
    found = figures(capsys, "plan", run_file, run_file, "--latency", "0.01", "--bandwidth", "1", "--examples", "5000")
    assert [each["nodes"] for each in found["predictions"]] == [2**power for power in range(11)]
    assert found["predictions"][0]["speedup"] == 1
    assert found["examples"] == 5000
    assert (found["latency"], found["bandwidth"]) == (0.01, 1e6)
    assert found["predictions"][3]["network"] > 0
    assert {check["nodes"] for check in found["checks"]} >= {1, 64}
    assert len(found["checks"]) == 16
    assert set(found["kinds"]) == {"sequential passive", "sequential active", "parallel active"}
    assert found["differs"] == []


def test_plan_of_what_has_no_times(capsys: Printed) -> None:
    data = paraactive.Arrays.load("data.npz")
    paraactive.train(paraactive.LaSVM(), data, examples=100, warmstart=100, out="short.db")
    assert "no timings" in complaint(capsys, "plan", "short.db")
    assert "the file does not exist" in complaint(capsys, "plan", "nope.db")
    assert "not a run file" in complaint(capsys, "plan", "data.npz")


def test_plan_with_a_link_that_cannot_be(run_file: str, capsys: Printed) -> None:
    assert "latency >= 0" in complaint(capsys, "plan", run_file, "--latency", "-1")
    assert "bandwidth" in complaint(capsys, "plan", run_file, "--bandwidth", "0")


def test_plan_of_a_run_with_other_nodes_on_the_way_says_that_it_cannot_be_checked(capsys: Printed) -> None:
    data = paraactive.Arrays.load("data.npz")
    paraactive.train(
        paraactive.LaSVM(gamma=1.0), data, engine="simulated", nodes=3, examples=600, warmstart=200, batch=100,
        schedule="asynchronous", out="run.db",
    )  # fmt: skip
    paraactive.resume("run.db", nodes=2, examples=1000)
    assert app.run(["plan", "run.db"]) == 0
    assert "Not known: the number of nodes changed during the run" in capsys.readouterr().out


def test_numbers_out_of_all_reason(run_file: str, capsys: Printed) -> None:
    assert "latency" in complaint(capsys, "plan", run_file, "--latency", "1e308")
    assert "bandwidth" in complaint(capsys, "plan", run_file, "--bandwidth", "1e-300")
    assert "rounds" in complaint(capsys, "plan", run_file, "--examples", "1000000000000000000")
    assert "steps <= 50000000" in complaint(capsys, "reproduce", "delays", "--steps", "1000000000000000")
    assert "smaller c0" in complaint(capsys, "reproduce", "delays", "--c0", "1e308")
