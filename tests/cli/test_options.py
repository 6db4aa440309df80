"""What is typed becomes learners, rules and streams, or one clear line that names the mistake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli.command_line import NAMES, Printed, X, complaint, figures
from paraactive.cli import app
from paraactive.runs.runfile import RunFile


@pytest.mark.parametrize("rule", ["margin", "signed", "gradient", "uniform", "passive"])
@pytest.mark.parametrize("learner", ["svm", "network"])
def test_every_learner_goes_with_every_rule(learner: str, rule: str, capsys: Printed):
    found = figures(capsys, "train", "data.npz", "--learner", learner, "--rule", rule, "--test", "test.npz")
    assert (found["seen"], found["test_examples"]) == (1200, 300)
    assert (found["sampling_rate"] == 1.0) == (rule == "passive")


def test_more_examples_than_a_file_has_is_a_mistake(capsys: Printed):
    assert "the stream ends after 1200" in complaint(capsys, "train", "data.npz", "--examples", "99999")


def saved(x: Any, y: Any) -> Callable[[], object]:
    return lambda: np.savez("bad.npz", x=x, y=y)


BAD_DATA: dict[str, tuple[Callable[[], object], str]] = {
    "NaN": (saved(np.where(X > 2, np.nan, X), NAMES), "features are NaN or infinite, the first nan at row"),
    "inf": (saved(np.where(X > 2, -np.inf, X), NAMES), "features are NaN or infinite, the first -inf at row"),
    "one class": (saved(X, NAMES == "egg"), "y has 1 class, 'False'"),
    "many classes": (saved(X, np.arange(1200) % 130), "y has 130 classes, '0', '1', '2'"),
    "empty": (saved(X[:0], NAMES[:0]), "y is empty: there is nothing to learn from"),
    "no columns": (saved(X[:, :0], NAMES), "x is empty"),
    "one label missing": (saved(X, NAMES[1:]), "x has 1,200 rows and y has 1,199 labels"),
    "text features": (saved(X.astype(str), NAMES), "features must be real numbers"),
    "other names": (lambda: np.savez("bad.npz", features=X, labels=NAMES), "must be named x and the labels y"),
    "no numpy file": (lambda: Path("bad.npz").write_text("x,y\n1,2\n"), "it is not a numpy file; give a numpy file"),
    "half a file": (lambda: Path("bad.npz").write_bytes(Path("data.npz").read_bytes()[:999]), "cannot read"),
    "not there": (lambda: None, "it does not exist; check the path"),
}


@pytest.mark.parametrize("what", BAD_DATA)
@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_bad_data_is_one_clear_line_and_no_run_file(what: str, as_json: list[str], capsys: Printed, folder: Path):
    make, said = BAD_DATA[what]
    make()
    assert said in complaint(capsys, "train", "bad.npz", "--out", "run.db", *as_json)
    assert not (folder / "run.db").exists()


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (np.zeros((9, 3)), ["ham"] * 9, "the rows have 3 features, and those of the stream have 2"),
        (np.full((9, 2), np.nan), ["ham"] * 9, "18 of the features are NaN"),
        (np.zeros((9, 2)), ["egg"] * 9, "unknown label 'egg': the stream has the classes 'ham', 'spam'"),
    ],
)
def test_bad_test_data_is_said_before_any_work(x: Any, y: Any, said: str, capsys: Printed, folder: Path):
    np.savez("bad.npz", x=x, y=y)
    assert said in complaint(capsys, "train", "data.npz", "--test", "bad.npz", "--out", "run.db")
    assert not (folder / "run.db").exists()


BAD_OPTIONS = {
    "--eta 0": "--eta is 0.0: ",
    "--eta -1": "--eta is -1.0: ",
    "--eta nan": "--eta is nan: ",
    "--eta one": "Invalid value for '--eta'",
    "--examples many": "Invalid value for '--examples'",
    "--seed 1.5": "Invalid value for '--seed'",
    "--batch 7 --nodes 8": "--batch is 7 for 8 nodes: ",
    "--nodes 0": "--nodes is 0: ",
    "--examples 0": "--examples is 0: ",
    "--warmstart -1": "--warmstart is -1: ",
    "--passes 0": "--passes is 0: ",
    "--learner netwrk": "no learner 'netwrk': the known learners are svm, network; did you mean 'network'?",
    "--learner swm": "no learner 'swm': the known learners are svm, network; name one of these as the learner.",
    "--rule sined": "no rule 'sined': the known rules are margin, paper, signed, least",
    "--rule zzz": "no rule 'zzz': the known rules are margin, paper, signed, least",
    "--engine cluster": "no engine 'cluster': ",
    "--schedule lazy": "no schedule 'lazy': ",
    "--schedule sequential --nodes 2": "schedule 'sequential' with 2 nodes: ",
    "--rule gradient --eta 0.1": "--eta is given for rule 'gradient': ",
    "--rate 0.5": "--rate is given for rule 'signed': ",
    "--rule uniform --rate 0": "--rate is 0.0: ",
    "--hidden 3": "--hidden is given for learner 'svm': ",
    "--learner network --C 1": "--C is given for learner 'network': ",
    "--C 0": "--C is 0.0: ",
    "--gamma -1": "--gamma is -1.0: ",
    "--passive": "--passive is given without test examples: ",
    "--no-such-option": "No such option: --no-such-option",
    "--out no/run.db": "cannot write beside no/run.db: no such file or directory; give a folder that exists",
    "--out .": ". is not a file: it is a folder",
    "--out data.npz --overwrite": "data.npz is not a run file",
}  # fmt: skip


@pytest.mark.parametrize("options", BAD_OPTIONS)
def test_bad_options_are_one_clear_line_and_nothing_is_written(options: str, capsys: Printed, folder: Path):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert complaint(capsys, "train", "data.npz", *options.split()).startswith(BAD_OPTIONS[options])
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("name", ["digits-31v75", "digits", "moons", ""])
def test_an_unknown_task_is_told_which_there_are(name: str, capsys: Printed):
    said = complaint(capsys, "train", name)
    assert said.startswith(f"no task '{name}': the known tasks are digits-31v57, digits-3v5, digits-10; ")
    assert said.endswith(("did you mean 'digits-31v57'?", "did you mean 'digits-10'?", "or give a file."))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("gone.csv", "no file gone.csv: it does not exist"),
        ("/", "no file /: the folder has no files that end in .parquet"),
        ("data.xlsx", "data.xlsx ends in '.xlsx': the supported suffixes are .parquet"),
        ("data.csv.bz2", "compress it with gzip"),
    ],
)
def test_a_file_that_is_not_there_or_of_no_known_kind(name: str, says: str, capsys: Printed):
    assert says in complaint(capsys, "train", name)


def test_train_with_the_rule_iwal(capsys: Printed) -> None:
    found = figures(capsys, "train", "data.npz", "--rule", "iwal", "--c0", "3", "--out", "iwal.db")
    assert 0 < found["sampling_rate"] <= 1
    with RunFile.read("iwal.db") as file:
        assert file.spec.rule.to_dict() == {"kind": "iwal", "c0": 3.0}
        assert file.spec.learner.inner.get("gap") == 0.2
    assert app.run(["replay", "iwal.db"]) == 0


def test_options_of_others(capsys: Printed) -> None:
    assert "only iwal has it" in complaint(capsys, "train", "data.npz", "--c0", "3")
    assert "only margin, paper, signed and least have it" in complaint(
        capsys, "train", "data.npz", "--rule", "iwal", "--eta", "1"
    )
    assert "--hidden is given for learner 'svm'" in complaint(capsys, "train", "data.npz", "--hidden", "10")
    assert "c0 >= 2" in complaint(capsys, "train", "data.npz", "--rule", "iwal", "--c0", "1")
