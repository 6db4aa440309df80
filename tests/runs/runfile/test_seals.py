"""Hashes: a byte that changes anywhere in what a model is made of is noticed, and older files still open."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from disk import sql
from making import two_moons
from paraactive import Arrays, LaSVM, Model, replay, resume, train
from paraactive.basics.state import pack, unpack
from paraactive.errors import ParaActiveError, RunFileError, RunFileWarning
from paraactive.runs.runfile import FORMAT, RunFile, request_nodes, seals

X, Y = two_moons(600, noise=0.15, seed=0)
NAMES = np.where(Y > 0, "up", "down")
OLDER = Path(__file__).parent / "files"
READ: dict[str, Callable[[Path], Any]] = {
    "load": Model.load,
    "replay": replay,
    "resume": lambda path: resume(path, stream=Arrays(X, NAMES)),
}


def a_run(path: Path, schedule: str = "synchronous", **options: Any) -> Path:
    train(
        LaSVM(gamma=2.0, gap=0.2), Arrays(X, NAMES), warmstart=100, batch=100, nodes=1, schedule=schedule, out=path,
        **options,
    )  # fmt: skip
    return path


@pytest.fixture(scope="module", params=["synchronous", "asynchronous", "sequential"])
def without_snapshot(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run file without a snapshot, as a run leaves it that is killed before the first."""
    path = a_run(tmp_path_factory.mktemp("whole") / "run.db", request.param)
    sql(path, "DELETE FROM snapshots")
    sql(path, "DELETE FROM events WHERE kind = 'SnapshotTaken'")
    return path


@pytest.fixture
def killed(without_snapshot: Path, tmp_path: Path) -> Path:
    """A copy, to be changed."""
    return Path(shutil.copy(without_snapshot, tmp_path / "run.db"))


CHANGES = [
    "UPDATE entries SET y = -y WHERE sequence = 107",
    "UPDATE entries SET p = p * 0.999999999 WHERE sequence = 3",
    "UPDATE entries SET importance = 2 WHERE sequence = 50",
    "UPDATE entries SET key = key + 1 WHERE sequence = 50",
    "UPDATE entries SET position = position + 1 WHERE sequence = 50",
    "UPDATE entries SET seen = seen + 1 WHERE sequence = 110",
    "UPDATE entries SET version = version - 1 WHERE sequence = 110",
    "UPDATE entries SET x = zeroblob(8) WHERE sequence = 0",
    "UPDATE entries SET x = (SELECT x FROM entries WHERE sequence = 4) WHERE sequence = 5",
    "UPDATE rounds SET seen = seen + 1 WHERE number = 1",
    "UPDATE rounds SET version = version - 1 WHERE number = 1",
    "UPDATE rounds SET update_seconds = 1 WHERE number = 2",
    "UPDATE rounds SET hash = zeroblob(32) WHERE number = 1",
    "UPDATE rounds SET hash = NULL WHERE number = 1",
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("way", READ)
def test_a_change_of_the_log_is_noticed_whoever_reads_it(way: str, change: str, killed: Path) -> None:
    sql(killed, change)
    with pytest.raises(RunFileError, match="damaged"):
        READ[way](killed)


@pytest.mark.parametrize("change", ["last = last + 1 WHERE number = 3", "hash = NULL"])
@pytest.mark.parametrize("way", READ)
def test_a_change_of_a_tile_is_noticed(way: str, change: str, tmp_path: Path) -> None:
    path = a_run(tmp_path / "run.db", "asynchronous")
    sql(path, "DELETE FROM snapshots")
    sql(path, f"UPDATE tiles SET {change}")
    with pytest.raises(RunFileError, match="damaged"):
        READ[way](path)


@pytest.mark.parametrize("way", ["replay", "resume"])
def test_replay_and_resume_read_the_whole_log_also_before_the_snapshot(way: str, tmp_path: Path) -> None:
    path = a_run(tmp_path / "run.db")
    sql(path, "UPDATE entries SET p = p / 2 WHERE sequence = 0")
    with pytest.raises(RunFileError, match="the hash of its log does not match from entry 0 to 99"):
        READ[way](path)


@pytest.mark.parametrize(
    "change",
    [
        """UPDATE configuration SET value = replace(value, 'down', 'dawn') WHERE name = 'classes'""",
        """UPDATE configuration SET value = replace(value, '2.0', '2.5') WHERE name = 'learner'""",
        """DELETE FROM configuration WHERE name = 'seed'""",
        """INSERT INTO configuration VALUES ('more', '1')""",
        """DELETE FROM seals""",
    ],
)
@pytest.mark.parametrize("way", READ)
def test_a_change_of_the_configuration_is_noticed_in_a_run_that_ended(way: str, change: str, tmp_path: Path) -> None:
    path = a_run(tmp_path / "run.db")
    sql(path, change)
    with pytest.raises(RunFileError, match="the hash of its configuration does not match"):
        READ[way](path)


# Snapshots -------------------------------------------------------------------------------------------------------


def _negated(state: bytes) -> bytes:
    arrays = unpack(state)
    return pack(arrays | {"alpha": -arrays["alpha"]})


@pytest.mark.parametrize("way", ["load", "resume"])
def test_a_snapshot_that_was_changed_is_not_used_and_the_log_gives_the_right_model(way: str, tmp_path: Path) -> None:
    path = a_run(tmp_path / "run.db")
    digest = Model.load(path).learner.digest()
    ((state,),) = sql(path, "SELECT state FROM snapshots")
    sql(path, "UPDATE snapshots SET state = ?", _negated(state))
    with pytest.warns(RunFileWarning, match="snapshot .* is damaged .* rebuilt from the log"):
        read = READ[way](path)
    assert read.learner.digest() == digest


@pytest.mark.parametrize("change", ["version = version - 1", "rounds = rounds - 1", "digest = 'another'"])
def test_a_snapshot_says_where_it_belongs(change: str, tmp_path: Path) -> None:
    path = a_run(tmp_path / "run.db")
    digest = Model.load(path).learner.digest()
    sql(path, f"UPDATE snapshots SET {change}")
    with pytest.warns(RunFileWarning, match="damaged"):
        assert Model.load(path).learner.digest() == digest


# Files of the format before ----------------------------------------------------------------------------------------

NAMES_OF_OLDER = {
    "format4-synchronous.sqlite": "fe80c34e2c744aee85f9794726da679a79537f3d6ba8a880fb8790848b5bd70d",
    "format4-asynchronous.sqlite": "c1d86045561ca45b59eca9398b640f033eb321348e14f91c949825f34a2116e2",
}


@pytest.mark.parametrize(("name", "digest"), NAMES_OF_OLDER.items())
def test_a_file_of_the_older_format_is_read_with_a_note(name: str, digest: str, tmp_path: Path) -> None:
    path = Path(shutil.copy(OLDER / name, tmp_path / "run.db"))
    for way in (Model.load, replay):
        with pytest.warns(RunFileWarning, match="has no hashes"):
            assert way(path).learner.digest() == digest
    assert sql(path, "PRAGMA user_version") == [(4,)]


@pytest.mark.parametrize(("name", "digest"), NAMES_OF_OLDER.items())
def test_resuming_a_file_of_the_older_format_gives_it_hashes(name: str, digest: str, tmp_path: Path) -> None:
    path = Path(shutil.copy(OLDER / name, tmp_path / "run.db"))
    with pytest.warns(RunFileWarning, match="has no hashes"):
        assert resume(path, stream=Arrays(X, NAMES)).learner.digest() == digest
    assert sql(path, "PRAGMA user_version") == [(FORMAT,)]
    assert replay(path).learner.digest() == Model.load(path).learner.digest() == digest
    sql(path, "UPDATE entries SET y = -y WHERE sequence = 9")
    with pytest.raises(RunFileError, match="damaged"):
        replay(path)


def test_a_snapshot_of_the_older_format_is_compared_with_its_digest(tmp_path: Path) -> None:
    path = Path(shutil.copy(OLDER / "format4-synchronous.sqlite", tmp_path / "run.db"))
    ((state,),) = sql(path, "SELECT state FROM snapshots")
    sql(path, "UPDATE snapshots SET state = ?", _negated(state))
    with pytest.warns(RunFileWarning), pytest.raises(RunFileError, match="gives another model than the run had"):
        Model.load(path)


def test_a_model_file_of_the_older_format_is_read_with_a_note() -> None:
    with pytest.warns(RunFileWarning, match="has no hash over all of it"):
        model = Model.load(OLDER / "format2.model")
    assert model.learner.digest() == NAMES_OF_OLDER["format4-synchronous.sqlite"]


@pytest.mark.parametrize("moment", range(1, 12))
def test_an_upgrade_that_is_interrupted_leaves_the_older_file(
    moment: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(OLDER / "format4-asynchronous.sqlite", tmp_path / "run.db"))
    extended, calls = seals.hash_of_link, list[int]()

    def interrupted(*arguments: Any) -> bytes:
        calls.append(1)
        if len(calls) == moment:
            raise KeyboardInterrupt
        return extended(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(seals, "hash_of_link", interrupted)
        with pytest.warns(RunFileWarning, match="has no hashes"), pytest.raises(KeyboardInterrupt):
            RunFile.resume(path)
    assert sql(path, "PRAGMA user_version") == [(4,)]
    with pytest.warns(RunFileWarning, match="has no hashes"):
        RunFile.resume(path).close()
    assert replay(path).learner.digest() == NAMES_OF_OLDER["format4-asynchronous.sqlite"]


def test_a_format_number_that_was_changed_is_damage(tmp_path: Path) -> None:
    path = a_run(tmp_path / "run.db")
    sql(path, "PRAGMA user_version = 4")
    for way in READ.values():
        with pytest.raises(RunFileError, match="its format number is that of files without hashes"):
            way(path)


def test_a_round_that_is_missing_behind_a_snapshot_is_damage(tmp_path: Path) -> None:
    path = a_run(tmp_path / "run.db", "asynchronous")
    sql(path, "DELETE FROM rounds WHERE number = (SELECT max(number) FROM rounds)")
    for way in READ.values():
        with pytest.raises(RunFileError, match=r"beyond the end of its log|where its rounds say"):
            way(path)


# A run that is extended goes on with the chain -------------------------------------------------------------------


@pytest.mark.parametrize("schedule", ["synchronous", "sequential"])
def test_the_chain_of_an_extended_run_is_whole(schedule: str, tmp_path: Path) -> None:
    short, whole = tmp_path / "short.db", tmp_path / "whole.db"
    a_run(short, schedule, examples=350)
    resume(short, stream=Arrays(X, NAMES), examples=600)
    a_run(whole, schedule)
    assert replay(short).learner.digest() == replay(whole).learner.digest()
    RunFile.resume(short).close()


def test_nodes_that_are_wanted_by_another_process_do_not_break_the_seal(tmp_path: Path) -> None:
    path = a_run(tmp_path / "run.db", "asynchronous")
    with RunFile.resume(path) as file:
        request_nodes(path, 3)
        assert file.spec.nodes == 3
    assert RunFile.read(path).spec.nodes == 3


def test_the_error_says_fact_reason_and_remedy(tmp_path: Path) -> None:
    path = a_run(tmp_path / "run.db")
    sql(path, "UPDATE entries SET p = p / 2 WHERE sequence = 0")
    with pytest.raises(ParaActiveError) as caught:
        replay(path)
    assert caught.value.fact == f"{path} is damaged"
    assert caught.value.remedy == "restore a copy of it, or train anew"
