"""The command line: what it prints, for people and for machines, and one clear line for every mistake."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paraactive
from cli.asking import COMMANDS, Printed, complaint, figures
from disk import reseal, sql
from making import two_moons
from paraactive.cli import app
from paraactive.runs.runfile import RunFile

X, Y = two_moons(1200, noise=0.3, seed=0)
NAMES = np.where(Y > 0, "spam", "ham")
DIGITS = ["train", "digits-31v57", "--examples", "1000", "--batch", "200", "--warmstart", "200"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a current folder of its own, with data."""
    monkeypatch.chdir(tmp_path)
    np.savez("data.npz", x=X, y=NAMES)
    np.savez("test.npz", x=X[:300] + 0.01, y=NAMES[:300])
    np.save("data.npy", np.column_stack([X, Y]))
    return tmp_path


def shell(*arguments: str, program: tuple[str, ...] = (sys.executable, "-m", "paraactive")) -> tuple[int, str, str]:
    """The same in a process of its own."""
    done = subprocess.run([*program, *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


# Help ----------------------------------------------------------------------------------------------------------


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


# For machines --------------------------------------------------------------------------------------------------

KEYS = {
    "seen", "selected", "sampling_rate", "mistakes", "test_examples", "warmstart_seconds", "sift_seconds",
    "update_seconds", "digest", "nodes", "engine", "schedule", "simulated",
}  # fmt: skip


def test_json_has_every_figure_of_an_svm_on_digits(capsys: Printed):
    found = figures(capsys, *DIGITS, "--nodes", "4", "--rule", "margin", "--eta", "0.1")
    assert found.keys() >= KEYS | {"vectors"}
    assert (found["seen"], found["nodes"], found["test_examples"]) == (1000, 4, 4065)
    assert (found["engine"], found["schedule"]) == ("threads", "synchronous")
    assert found["replicas"] == [{"node": 0, "digest": found["digest"]}]
    assert found["delays"].keys() == {"mean", "p50", "p99", "max"}
    assert sum(item["entries"] for item in found["delay_histogram"]) == found["selected"]
    assert (found["warmstart"], found["selected"]) == (200, round(found["sampling_rate"] * 800))
    assert 0 < found["vectors"] <= 200 + found["selected"]
    assert 0 < found["mistakes"] < 1000
    assert len(found["digest"]) == 64
    assert [item["nodes"] for item in found["simulated"]] == [1, 2, 4, 8, 16, 32, 64, 128]
    assert all(item.keys() == {"nodes", "seconds"} for item in found["simulated"])
    seconds = [item["seconds"] for item in found["simulated"]]
    assert seconds == sorted(seconds, reverse=True), "more nodes never take longer on this clock"
    assert seconds[0] == pytest.approx(found["warmstart_seconds"] + found["sift_seconds"] + found["update_seconds"])


def test_json_of_a_network_has_no_vectors(capsys: Printed):
    found = figures(
        capsys, "train", "digits-3v5", "--examples", "600", "--batch", "200", "--warmstart", "200", "--hidden", "8"
    )
    assert found.keys() >= KEYS
    assert "vectors" not in found
    assert found["test_examples"] == 1902


def test_passive_adds_the_speedups(capsys: Printed):
    found = figures(capsys, *DIGITS, "--passive")
    passive = found["passive"]
    assert passive["reached"] in (True, False)
    assert passive["seconds"] > 0
    assert passive["seen"] == passive["warmstart"] + passive["selected"]
    for item in found["simulated"]:
        assert item["speedup"] == pytest.approx(passive["seconds"] / item["seconds"])


def test_the_seed_alone_decides_the_digest(capsys: Printed):
    first, again, other = (figures(capsys, *DIGITS, "--seed", seed)["digest"] for seed in ("1", "1", "2"))
    assert first == again != other


def test_the_number_of_nodes_does_not_change_the_digest(capsys: Printed):
    digests = {figures(capsys, "train", "data.npz", "--nodes", k)["digest"] for k in ("1", "7", "64")}
    assert len(digests) == 1


@pytest.mark.parametrize("rule", ["margin", "signed", "gradient", "uniform", "passive"])
@pytest.mark.parametrize("learner", ["svm", "network"])
def test_every_learner_goes_with_every_rule(learner: str, rule: str, capsys: Printed):
    found = figures(capsys, "train", "data.npz", "--learner", learner, "--rule", rule, "--test", "test.npz")
    assert (found["seen"], found["test_examples"]) == (1200, 300)
    assert (found["sampling_rate"] == 1.0) == (rule == "passive")


def test_sequential_is_a_schedule(capsys: Printed):
    found = figures(capsys, "train", "data.npz", "--schedule", "sequential")
    assert (found["schedule"], found["seen"]) == ("sequential", 1200)
    assert [item["nodes"] for item in found["simulated"]] == [1]


def test_npy_and_npz_of_the_same_data_give_the_same_model(capsys: Printed):
    names = figures(capsys, "train", "data.npz", "--test", "test.npz")
    numbers = figures(capsys, "train", "data.npy", "--test", "data.npy")
    assert names["digest"] == numbers["digest"]
    assert names["mistakes"] < 60
    assert numbers["test_examples"] == 1200


def test_passes_go_over_a_file_again(capsys: Printed):
    assert figures(capsys, "train", "data.npz", "--passes", "2")["seen"] == 2400


def test_without_test_examples_mistakes_are_null(capsys: Printed):
    found = figures(capsys, "train", "data.npz")
    assert (found["mistakes"], found["test_examples"]) == (None, None)


# Run files -----------------------------------------------------------------------------------------------------


def test_train_resume_and_replay_agree(capsys: Printed):
    whole = figures(capsys, "train", "data.npz", "--batch", "120", "--test", "test.npz", "--out", "run.db")
    assert figures(capsys, "replay", "run.db") == whole | {"checked": 1}
    assert figures(capsys, "resume", "run.db") == whole
    short = ["train", "data.npz", "--batch", "120", "--warmstart", "240", "--test", "test.npz"]
    figures(capsys, *short, "--examples", "600", "--out", "short.db")
    longer = figures(capsys, "resume", "short.db", "--examples", "1200", "--nodes", "5")
    assert (longer["digest"], longer["mistakes"], longer["nodes"]) == (whole["digest"], whole["mistakes"], 5)


def test_overwrite_replaces_a_run_file(capsys: Printed):
    figures(capsys, "train", "data.npz", "--out", "run.db")
    other = figures(capsys, "train", "data.npz", "--seed", "4", "--out", "run.db", "--overwrite")
    assert figures(capsys, "replay", "run.db")["digest"] == other["digest"]


def test_the_demo_replaces_its_own_run_file_and_no_other(capsys: Printed, folder: Path):
    for _ in range(2):
        found = figures(capsys, "demo", "--examples", "4200")
        assert found["seen"] == 4200
        assert found["simulated"][0]["speedup"] > 0
    (folder / "mine.db").write_text("my diary\n" * 99)
    assert "mine.db is there already" in complaint(capsys, "demo", "--examples", "4200", "--out", "mine.db")
    assert (folder / "mine.db").read_text() == "my diary\n" * 99
    (folder / "paraactive-demo.db").write_text("my diary\n" * 99)
    assert "paraactive-demo.db is not a run file" in complaint(capsys, "demo", "--examples", "4200")


def test_a_run_on_a_file_is_extended_by_passes(capsys: Printed):
    data = ["train", "data.npz", "--batch", "120", "--warmstart", "240"]
    figures(capsys, *data, "--out", "run.db")
    longer = figures(capsys, "resume", "run.db", "--passes", "2", "--examples", "2400")
    assert longer["seen"] == 2400
    assert longer["digest"] == figures(capsys, *data, "--passes", "2")["digest"]
    assert figures(capsys, "resume", "run.db") == longer
    figures(capsys, *DIGITS, "--out", "digits.db")
    assert "the run is not on a file" in complaint(capsys, "resume", "digits.db", "--passes", "2")


def test_a_live_run_is_given_other_nodes(capsys: Printed, folder: Path):
    figures(capsys, "train", "data.npz", "--schedule", "asynchronous", "--out", "run.db")
    with RunFile.resume(folder / "run.db") as live:
        assert figures(capsys, "resize", "run.db", "--nodes", "5") == {"run": "run.db", "nodes": 5}
        assert live.wanted_nodes == 5
        assert "nodes is 0" in complaint(capsys, "resize", "run.db", "--nodes", "0")
        assert "batch is 150 for 151 nodes" in complaint(capsys, "resize", "run.db", "--nodes", "151")
        assert live.wanted_nodes == 5
    assert "no run is writing run.db: " in complaint(capsys, "resize", "run.db", "--nodes", "2")
    assert "no run file nowhere.db" in complaint(capsys, "resize", "nowhere.db", "--nodes", "2")
    figures(capsys, "train", "data.npz", "--out", "rounds.db")
    with RunFile.resume(folder / "rounds.db"):
        assert "the run in rounds.db is synchronous" in complaint(capsys, "resize", "rounds.db", "--nodes", "2")


def test_the_schedules_and_engines_can_be_named(capsys: Printed):
    data = ["train", "data.npz", "--batch", "120", "--nodes", "2"]
    pipelined = figures(capsys, *data, "--schedule", "pipelined", "--lag", "2")
    assert pipelined["schedule"] == "pipelined"
    assert figures(capsys, *data, "--schedule", "pipelined", "--lag", "0")["digest"] == figures(capsys, *data)["digest"]
    slow = ["--engine", "simulated", "--latency", "0.01", "--jitter", "0.005", "--slowdown", "4"]
    found = figures(capsys, *data, "--schedule", "asynchronous", "--delay", "200", *slow)
    assert found["replicas"] == [{"node": node, "digest": found["digest"]} for node in (0, 1)]
    assert found["simulated"][0]["nodes"] == 2
    assert found["delays"]["max"] <= 200
    own = figures(capsys, *data, "--engine", "processes", "--updates", "central")
    assert (own["updates"], own["digest"]) == ("central", figures(capsys, *data)["digest"])


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
    for part in ("Delay of the selected", "largest", "█", "Updates were", "on 2 processes", "as measured on processes"):
        assert part in shown


def test_more_examples_than_a_file_has_is_a_mistake(capsys: Printed):
    assert "the stream ends after 1200" in complaint(capsys, "train", "data.npz", "--examples", "99999")


# For people ----------------------------------------------------------------------------------------------------


def test_people_get_tables_and_are_told_what_to_do_next(capsys: Printed, folder: Path):
    arguments = ["train", "data.npz", "--test", "test.npz", "--out", "my [run].db", "--passive"]
    assert app.run(arguments) == 0
    out = capsys.readouterr().out
    for row in ("seen", "selected", "sampling rate", "support vectors", "test mistakes", "sift", "update"):
        assert row in out
    assert "speedup over passive" in out
    assert "Passive learning" in out
    assert "check it with: paraactive replay 'my [run].db'" in out
    assert app.run(["replay", "my [run].db"]) == 0
    assert "the model is the one that the run had, bit for bit, at 1 snapshot." in capsys.readouterr().out


def test_a_progress_bar_is_drawn_for_people_and_stays_out_of_the_json():
    screen, terminal = pty.openpty()
    command = [sys.executable, "-m", "paraactive", *DIGITS, "--json"]
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "150"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True, env=environment) as child:
        os.close(terminal)
        shown = b""
        while piece := _read(screen):
            shown += piece
        out = child.communicate()[0]
    os.close(screen)
    assert json.loads(out)["seen"] == 1000
    for part in (b"sifting", b"1,000/1,000", b"/s", b"selected", b"mistakes"):
        assert part in shown


def _read(screen: int) -> bytes:
    try:
        return os.read(screen, 4096)
    except OSError:  # Linux: the other side is closed.
        return b""


# Mistakes ------------------------------------------------------------------------------------------------------


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
    "--rule sined": "no rule 'sined': the known rules are margin, signed, least, gradient, iwal, uniform, passive; did",
    "--rule zzz": "no rule 'zzz': the known rules are margin, signed, least, gradient, iwal, uniform, passive; name",
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
    "--passive": "--passive without test examples: ",
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


# Run files that cannot be used -----------------------------------------------------------------------------------


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


BAD_RUNS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda path: path.unlink(), "no run file run.db: nothing is there"),
    "text": (lambda path: path.write_text("my diary\n" * 99), "run.db is not a run file, or is damaged: "),
    "cut": (cut, "damaged"),
    "empty": (lambda path: os.truncate(path, 0), "run.db holds no run: it was stopped before it began; start it again"),
    "other version": (lambda path: sql(path, "PRAGMA user_version = 9"), "run.db has format 9: this version of"),
    "other program": (lambda path: sql(path, "PRAGMA application_id = 7"), "run.db is not a run file: it is a SQLite"),
    "gap": (lambda path: sql(path, "DELETE FROM entries WHERE sequence = 9"), "run.db is damaged: it misses 1 of its"),
}


@pytest.mark.parametrize("what", BAD_RUNS)
@pytest.mark.parametrize("command", ["resume", "replay"])
def test_a_run_file_that_cannot_be_used_is_one_clear_line(what: str, command: str, capsys: Printed, folder: Path):
    spoil, said = BAD_RUNS[what]
    figures(capsys, "train", "data.npz", "--out", "run.db")
    spoil(folder / "run.db")
    assert said in complaint(capsys, command, "run.db")
    assert said in complaint(capsys, command, "run.db", "--json")


def test_a_log_that_gives_another_model_is_one_clear_line(capsys: Printed, folder: Path):
    figures(capsys, "train", "data.npz", "--out", "run.db")
    sql(folder / "run.db", "UPDATE entries SET y = -y WHERE sequence > 100")
    assert complaint(capsys, "replay", "run.db").startswith("run.db is damaged: the hash of its log does not match")
    reseal(folder / "run.db")
    assert complaint(capsys, "replay", "run.db").startswith("replaying run.db gives another model than the run had: ")


def test_a_run_file_of_a_live_run_is_one_clear_line(capsys: Printed, folder: Path):
    whole = figures(capsys, "train", "data.npz", "--out", "run.db")
    with RunFile.resume(folder / "run.db"):
        for arguments in (["resume", "run.db"], ["train", "data.npz", "--out", "run.db", "--overwrite"]):
            said = complaint(capsys, *arguments)
            assert said == "run.db is being written: a live run holds it; wait for that run, or stop it."
        assert figures(capsys, "replay", "run.db") == whole | {"checked": 1}, "looking is allowed"


def test_a_run_file_that_is_there_is_not_overwritten_unasked(capsys: Printed, folder: Path):
    figures(capsys, "train", "data.npz", "--out", "run.db")
    before = (folder / "run.db").read_bytes()
    said = complaint(capsys, "train", "data.npz", "--out", "run.db", "--seed", "3")
    assert said.startswith("run.db is there already: ")
    assert said.endswith("go on with 'paraactive resume run.db', give another name, or --overwrite it.")
    assert (folder / "run.db").read_bytes() == before


def test_a_mistake_in_a_process_of_its_own_is_one_line_without_a_traceback():
    code, out, error = shell("train", "data.npz", "--eta", "0", "--json")
    assert (code, out) == (2, "")
    assert error.startswith("paraactive: error: --eta is 0.0: ")
    assert error.count("\n") == 1
