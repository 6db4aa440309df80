"""The command line: what it prints, for people and for machines, and one clear line for every mistake."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from cli.command_line import DIGITS, Printed, complaint, figures
from disk import reseal, sql
from making import two_moons
from paraactive.runs.runfile import RunFile

KEYS = {
    "seen", "selected", "sampling_rate", "mistakes", "test_examples", "warmstart_seconds", "sift_seconds",
    "update_seconds", "digest", "nodes", "engine", "schedule", "simulated",
}  # fmt: skip


def test_json_has_every_figure_of_an_svm_on_digits(capsys: Printed):
    found = figures(capsys, *DIGITS, "--nodes", "4", "--rule", "margin", "--eta", "0.1", "--no-finish")
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


def test_train_resume_and_replay_agree(capsys: Printed):
    short = ["train", "data.npz", "--batch", "120", "--warmstart", "240", "--test", "test.npz"]
    whole = figures(capsys, *short, "--out", "run.db")
    assert figures(capsys, "replay", "run.db") == whole | {"checked": 2}
    assert figures(capsys, "resume", "run.db") == whole
    figures(capsys, *short, "--examples", "600", "--out", "short.db")
    longer = figures(capsys, "resume", "short.db", "--examples", "1200", "--nodes", "5")
    assert (longer["digest"], longer["mistakes"], longer["nodes"]) == (whole["digest"], whole["mistakes"], 5)


def test_the_finishing_step_can_be_asked_for_and_turned_off(capsys: Printed):
    data = ["train", "data.npz", "--batch", "120"]
    auto, finished = figures(capsys, *data), figures(capsys, *data, "--finish")
    plain = figures(capsys, *data, "--no-finish", "--out", "run.db")
    assert auto["digest"] == finished["digest"] != plain["digest"]
    assert figures(capsys, "resume", "run.db", "--finish")["digest"] == finished["digest"]


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
    assert "mine.db already exists" in complaint(capsys, "demo", "--examples", "4200", "--out", "mine.db")
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
    assert "the run does not read a file" in complaint(capsys, "resume", "digits.db", "--passes", "2")


def test_a_live_run_is_given_other_nodes(capsys: Printed, folder: Path):
    figures(capsys, "train", "data.npz", "--schedule", "asynchronous", "--out", "run.db")
    with RunFile.resume(folder / "run.db") as live:
        assert figures(capsys, "resize", "run.db", "--nodes", "5") == {"run": "run.db", "nodes": 5}
        assert live.spec.nodes == 5
        assert "nodes is 0" in complaint(capsys, "resize", "run.db", "--nodes", "0")
        assert "batch is 150 for 151 nodes" in complaint(capsys, "resize", "run.db", "--nodes", "151")
        assert live.spec.nodes == 5
    assert "no run is writing run.db: " in complaint(capsys, "resize", "run.db", "--nodes", "2")
    assert "no run file nowhere.db" in complaint(capsys, "resize", "nowhere.db", "--nodes", "2")
    figures(capsys, "train", "data.npz", "--out", "rounds.db")
    with RunFile.resume(folder / "rounds.db"):
        assert "the run in rounds.db is synchronous" in complaint(capsys, "resize", "rounds.db", "--nodes", "2")


def test_the_schedules_and_engines_can_be_named(capsys: Printed):
    data = ["train", "data.npz", "--batch", "120", "--nodes", "2"]
    assert figures(capsys, *data, "--schedule", "sequential", "--nodes", "1")["schedule"] == "sequential"
    slow = ["--engine", "simulated", "--latency", "0.01", "--jitter", "0.005", "--slowdown", "4"]
    found = figures(capsys, *data, "--schedule", "asynchronous", "--delay", "200", "--no-finish", *slow)
    assert found["replicas"] == [{"node": node, "digest": found["digest"]} for node in (0, 1)]
    assert found["simulated"][0]["nodes"] == 2
    assert found["delays"]["max"] <= 200
    own = figures(capsys, *data, "--engine", "processes", "--updates", "central")
    assert (own["updates"], own["digest"]) == ("central", figures(capsys, *data)["digest"])


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


BAD_RUNS: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (
        lambda path: path.unlink(),
        "no run file run.db: the file does not exist; check the path, or train first",
    ),
    "text": (lambda path: path.write_text("my diary\n" * 99), "run.db is not a run file, or is damaged: "),
    "cut": (cut, "damaged"),
    "empty": (
        lambda path: os.truncate(path, 0),
        "run.db holds no run: the run was stopped before it began; start it again",
    ),
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
        assert figures(capsys, "replay", "run.db") == whole | {"checked": 2}, "looking is allowed"


def test_a_run_file_that_is_there_is_not_overwritten_unasked(capsys: Printed, folder: Path):
    figures(capsys, "train", "data.npz", "--out", "run.db")
    before = (folder / "run.db").read_bytes()
    said = complaint(capsys, "train", "data.npz", "--out", "run.db", "--seed", "3")
    assert said.startswith("run.db already exists: ")
    assert said.endswith("continue with 'paraactive resume run.db', give another name, or --overwrite it.")
    assert (folder / "run.db").read_bytes() == before


def test_train_with_trackers_writes_for_them(capsys: Printed) -> None:
    x, y = two_moons(600, noise=0.3, seed=0)
    np.savez("data.npz", x=x, y=y)
    found = figures(capsys, "train", "data.npz", "--tensorboard", "logs", "--verbose")
    assert found["seen"] == 600
    assert len(list(Path("logs").iterdir())) == 1
