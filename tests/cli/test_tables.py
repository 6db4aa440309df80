"""The tables that people see after a run."""

from __future__ import annotations

from pathlib import Path

from cli.command_line import Printed
from paraactive.cli import app


def test_the_table_of_k_nodes_is_shown_on_request(capsys: Printed):
    for options, shown in (([], False), (["--speedups"], True)):
        assert app.run(["train", "data.npz", "--nodes", "2", "--out", "run.db", "--overwrite", *options]) == 0
        assert ("Time with k nodes" in capsys.readouterr().out) == shown
        assert app.run(["resume", "run.db", *options]) == 0
        assert ("Time with k nodes" in capsys.readouterr().out) == shown


def test_people_see_delays_and_who_learnt(capsys: Printed):
    run = ["train", "data.npz", "--schedule", "asynchronous", "--engine", "processes", "--nodes", "2", "--speedups"]
    assert app.run(run) == 0
    shown = capsys.readouterr().out
    for part in ("Lag in entries", "largest", "█", "Updates were", "on 2 processes", "as measured on processes"):
        assert part in shown


def test_people_get_tables_and_are_told_what_to_do_next(capsys: Printed, folder: Path):
    arguments = ["train", "data.npz", "--test", "test.npz", "--out", "my [run].db", "--passive"]
    assert app.run(arguments) == 0
    out = capsys.readouterr().out
    for row in ("seen", "selected", "sampling rate", "support vectors", "test mistakes", "sift", "update"):
        assert row in out
    assert "speedup over passive" in out
    assert "Passive learning" in out
    assert "Check it with: paraactive replay 'my [run].db'" in out
    assert app.run(["replay", "my [run].db"]) == 0
    assert "the model is identical to the model of the run, bit for bit, at 2 snapshots." in capsys.readouterr().out
