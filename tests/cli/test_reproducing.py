"""The command reproduce: what a person sees, what a machine gets."""

from __future__ import annotations

import json
from pathlib import Path

from cli.command_line import Printed, complaint, figures
from paraactive.cli import app


def test_reproduce_delays_writes_a_figure_and_all_points(capsys: Printed) -> None:
    assert app.run(["reproduce", "delays", "--seeds", "2", "--steps", "500"]) == 0
    out = capsys.readouterr().out
    assert "random" in out
    assert "more labels are needed than without" in " ".join(out.split())
    assert "Theorem 1 bounds the error at every step" in out
    for name in ("delays-error.png", "delays-error.svg", "delays-rate.png", "delays.html"):
        assert Path("reproduce-delays", name).stat().st_size > 1000
    points = json.loads(Path("reproduce-delays/delays.json").read_text())
    assert [each["delay"] for each in points["delays"]] == ["1", "10", "100", "1000", "random"]


def test_reproduce_delays_as_json_prints_what_is_in_the_file(capsys: Printed) -> None:
    found = figures(capsys, "reproduce", "delays", "--seeds", "2", "--steps", "500", "--out", "there/too")
    assert found["steps"] == 500
    assert json.loads(Path("there/too/delays.json").read_text()) == found


def test_reproduce_with_mistakes(capsys: Printed) -> None:
    assert "did you mean 'delays'" in complaint(capsys, "reproduce", "delay")
    assert "did you mean 'small'" in complaint(capsys, "reproduce", "svm", "--scale", "smal")
    assert "seeds" in complaint(capsys, "reproduce", "svm", "--seeds", "0")
    assert "c0 >= 2" in complaint(capsys, "reproduce", "delays", "--c0", "1.9")
    assert "data.npz is a file" in complaint(capsys, "reproduce", "delays", "--out", "data.npz")
