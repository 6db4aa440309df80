"""The run file as a log: what goes in comes out, whole rounds only, and damage is noticed."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from disk import log_of, sql
from paraactive import Arrays, Digits
from paraactive.basics.state import pack
from paraactive.data.events import Evaluated, Round, RunStarted, SnapshotTaken
from paraactive.data.examples import Entries, Examples, Place, Selected
from paraactive.errors import RunFileError, RunFileWarning
from paraactive.runs.runfile import RunFile
from paraactive.runs.runfile.seals import of_snapshot
from paraactive.schedules.base import Plan

WIDTH = 3


def some_selected(count: int, seed: int = 0, width: int = WIDTH) -> Selected:
    """Selected examples with numbers that no rounding leaves alone."""
    rng = np.random.default_rng(seed)
    index = np.cumsum(rng.integers(1, 9, count))
    x = rng.normal(size=(count, width)).astype(np.float32)
    examples = Examples(x, rng.choice([-1, 1], count).astype(np.int8), index, index // 2)
    seen, version = rng.integers(0, 2**40, count), rng.integers(0, 99, count)
    return Selected(examples, 1 - rng.random(count), seen, version)


def a_round(file: RunFile, selected: Selected) -> Round:
    """One round of 100 fresh examples that selects these."""
    entries = file.append(selected)
    ended = Round(file.rounds, file.seen + 100, entries.last, len(entries), 0.1, 1 / 3, 2e-9, {1: 0.5, 128: 1e-17})
    file.end_round(ended)
    return ended


def bits(entries: Entries) -> list[tuple[str, bytes]]:
    """All columns of entries, with their types."""
    some, examples = entries.selected, entries.selected.examples
    columns = (examples.x, examples.y, examples.index, examples.key, some.p, some.seen, some.version)
    return [(column.dtype.str, column.tobytes()) for column in columns]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


@pytest.fixture
def written(path: Path) -> Path:
    """A closed run file of four rounds, with two snapshots."""
    with RunFile.create(path, {"seed": 7}) as file:
        for number in range(4):
            a_round(file, some_selected(40, number))
            file.snapshot(Place(file.version, file.rounds), {"alpha": np.full(50, number)}, f"digest {number}")
    return path


# What goes in comes out ----------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.integers(0, 999))
@settings(deadline=None, max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_entries_come_back_bit_for_bit_however_they_were_appended(path: Path, sizes: list[int], seed: int):
    parts = [some_selected(size, seed + number) for number, size in enumerate(sizes)]
    with RunFile.create(path, {}, overwrite=True) as file:
        entries = [file.append(part) for part in parts]
        file.end_round(Round(0, 5, entries[-1].last, sum(sizes), 0, 0, 0))
    with RunFile.read(path) as file:
        assert file.version == sum(sizes)
        for one in entries:
            if len(one):
                assert bits(file.entries(one.first, one.last, None)) == bits(one)


def test_entries_without_features_come_back_bit_for_bit_from_the_stream(path: Path):
    stream = Digits(seed=3)
    fresh = stream.read(20_000, 20_050)
    selected = some_selected(50, width=stream.width)
    selected = Selected(fresh, selected.p, selected.seen, selected.version)
    with RunFile.create(path, {}) as file:
        file.use_stream(Digits())
        a_round(file, selected)
    assert sql(path, "SELECT count(*) FROM entries WHERE x IS NOT NULL") == [(0,)]
    with RunFile.read(path) as file:
        assert file.needs_stream
        assert bits(file.entries(0, 50, stream)) == bits(Entries(0, selected))


def test_a_file_with_features_needs_no_stream_and_does_not_ask_one(path: Path):
    selected = some_selected(10)
    with RunFile.create(path, {}) as file:
        a_round(file, selected)
        assert not file.needs_stream
        other = Arrays(np.zeros((400, WIDTH)), np.arange(400) % 2)
        assert bits(file.entries(0, 10, other)) == bits(Entries(0, selected))


def test_rounds_come_back_as_they_ended(path: Path):
    with RunFile.create(path, {}) as file:
        ended = [a_round(file, some_selected(size)) for size in (5, 0, 9)]
    with RunFile.read(path) as file:
        assert list(file.ended_rounds()) == ended
        assert list(file.ended_rounds(2)) == ended[2:]
        assert (file.version, file.rounds, file.seen) == (14, 3, 300)


def test_the_configuration_comes_back_in_its_order_and_can_be_changed(path: Path):
    configuration = {"learner": {"kind": "svm", "gamma": None}, "examples": 10**12, "classes": ["ä", "5"], "eta": 0.1}
    with RunFile.create(path, configuration) as file:
        file.configure(examples=5)
    with RunFile.read(path) as file:
        assert file.configuration == configuration | {"examples": 5}
    names = sql(path, "SELECT name FROM configuration")
    assert {name for (name,) in names} == configuration.keys()


def test_events_come_back_by_kind_and_in_order_and_rounds_are_not_written_twice(path: Path):
    with RunFile.create(path, {}) as file:
        for event in (RunStarted(10, 0), Evaluated(5, 1, 3, 9, 0.5), Evaluated(7, 2, 1, 9, 0.25)):
            file.observe(event)
        file.observe(a_round(file, some_selected(2)))
    with RunFile.read(path) as file:
        assert [Evaluated(**payload) for payload in file.events("Evaluated")] == [
            Evaluated(5, 1, 3, 9, 0.5),
            Evaluated(7, 2, 1, 9, 0.25),
        ]
        assert file.events("RunStarted") == [{"examples": 10, "seen": 0, "sifted": 0, "selected": 0}]
        assert file.events("Round") == []


def test_a_user_can_read_events_and_times_with_sql(written: Path):
    with RunFile.resume(written) as file:
        file.observe(SnapshotTaken(400, 160, 4, "abc"))
    ((kind, payload, time),) = sql(written, "SELECT kind, payload, time FROM events")
    assert (kind, json.loads(payload)) == ("SnapshotTaken", {"seen": 400, "version": 160, "rounds": 4, "digest": "abc"})
    assert time > 1.7e9


# Snapshots -----------------------------------------------------------------------------------------------------


def test_the_newest_two_snapshots_are_kept_and_the_newest_is_read(written: Path):
    assert sql(written, "SELECT version, rounds, digest FROM snapshots ORDER BY version") == [
        (120, 3, "digest 2"),
        (160, 4, "digest 3"),
    ]
    with RunFile.read(written) as file:
        place, digest, state = next(file.snapshots())
    assert (place, digest) == ((160, 4), "digest 3")
    assert (state["alpha"] == 3).all()


def test_a_round_without_entries_moves_the_snapshot_of_its_version_on(written: Path):
    with RunFile.resume(written) as file:
        a_round(file, some_selected(0))
        file.snapshot(Place(file.version, file.rounds), {"alpha": np.ones(1)}, "after the gap")
    assert sql(written, "SELECT version, rounds, digest FROM snapshots ORDER BY version") == [
        (120, 3, "digest 2"),
        (160, 5, "after the gap"),
    ]


def test_a_run_without_snapshots_has_none(path: Path):
    with RunFile.create(path, {}) as file:
        assert list(file.snapshots()) == []


def test_every_byte_of_a_snapshot_loads_without_pickle(written: Path):
    for (state,) in sql(written, "SELECT state FROM snapshots"):
        with np.load(io.BytesIO(state), allow_pickle=False) as arrays:
            assert arrays["alpha"].shape == (50,)


class Armed:
    """Unpickling this leaves a mark."""

    fired = False

    def __reduce__(self) -> tuple[Any, ...]:
        return Armed.fire, ()

    @staticmethod
    def fire() -> None:
        Armed.fired = True


def test_a_pickled_object_in_a_snapshot_is_never_loaded(written: Path):
    buffer = io.BytesIO()
    np.savez(buffer, alpha=np.array([Armed()], dtype=object))
    for version, rounds, digest in sql(written, "SELECT version, rounds, digest FROM snapshots"):
        sealed = of_snapshot(Place(version, rounds), digest, buffer.getvalue())
        values = buffer.getvalue(), sealed, version
        sql(written, "UPDATE snapshots SET state = ?, hash = ? WHERE version = ?", *values)
    with RunFile.read(written) as file, pytest.warns(RunFileWarning, match="Python objects"):
        assert list(file.snapshots()) == []
    assert not Armed.fired


def test_a_state_with_objects_cannot_be_written(written: Path):
    with RunFile.resume(written) as file, pytest.raises(ValueError, match="Object arrays"):
        file.snapshot(Place(160, 4), {"alpha": np.array([Armed()], dtype=object)}, "")


def test_a_damaged_snapshot_is_passed_over_for_the_one_before(written: Path):
    whole = pack({"alpha": np.arange(50)})
    for damaged in (whole[:100], whole[:200] + b"\xff" * 40 + whole[240:], b"", b"no zip at all"):
        sql(written, "UPDATE snapshots SET state = ? WHERE version = 160", damaged)
        with RunFile.read(written) as file, pytest.warns(RunFileWarning, match=r"after 160 entries is damaged .*hash"):
            assert next(file.snapshots())[0] == (120, 3)


# Whole rounds --------------------------------------------------------------------------------------------------


def test_half_a_round_is_gone_after_a_failure_and_the_rounds_before_it_are_not(written: Path):
    before = log_of(written)

    def fail_in_the_middle() -> None:
        with RunFile.resume(written) as file:
            file.append(some_selected(11))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_in_the_middle()
    assert log_of(written) == before
    with RunFile.resume(written) as file:
        assert (file.version, file.rounds, file.seen) == (160, 4, 400)
        a_round(file, some_selected(1))


def test_a_file_that_ends_in_half_a_round_is_refused(written: Path):
    with RunFile.resume(written) as file:
        file.append(some_selected(3))
    with pytest.raises(RunFileError, match=r"damaged.*163 entries where its rounds say 160"):
        RunFile.resume(written)


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("DELETE FROM entries WHERE sequence = 17", "misses 1 of its 160 entries"),
        ("DELETE FROM entries WHERE sequence = 159", "159 entries where its rounds say 160"),
        ("DELETE FROM entries WHERE sequence = 0", "misses 1 of its 160 entries"),
        ("DELETE FROM entries", "0 entries where its rounds say 160"),
        ("UPDATE entries SET sequence = 1000 WHERE sequence = 17", "misses 841 of its 1001 entries"),
        ("DELETE FROM rounds WHERE number = 1", "3 rounds where the last is number 3"),
        ("DELETE FROM rounds WHERE number = 3", "160 entries where its rounds say 120"),
        ("DROP TABLE rounds", "no such table: rounds"),
    ],
)
@pytest.mark.parametrize("way", [RunFile.read, RunFile.resume])
def test_a_gap_in_the_log_is_noticed_when_the_file_is_opened(written: Path, way: Any, damage: str, said: str):
    sql(written, damage)
    with pytest.raises(RunFileError, match=said):
        way(written)


def test_a_gap_that_opens_later_is_noticed_when_it_is_read(written: Path):
    with RunFile.resume(written) as file:
        sql(written, "DELETE FROM entries WHERE sequence IN (17, 18)")
        with pytest.raises(RunFileError, match="2 of the entries 10 to 19 are not there"):
            file.entries(10, 20, None)


# Readers beside a writer ---------------------------------------------------------------------------------------


def test_readers_see_whole_committed_rounds_while_a_writer_writes(path: Path):
    with RunFile.create(path, {}) as writer:
        for number in range(6):
            a_round(writer, some_selected(20, number))
            writer.snapshot(Place(writer.version, writer.rounds), {}, "")  # commits
            writer.append(some_selected(7))  # half a round, not committed
            with RunFile.read(path) as reader:
                assert (reader.version, reader.rounds) == (20 * (number + 1), number + 1)
                assert len(reader.entries(0, reader.version, None)) == reader.version
            writer._database.rollback()
            writer.version -= 7
            writer._pending.clear()


def test_an_open_reader_does_not_stop_the_writer(written: Path):
    with RunFile.read(written) as reader, RunFile.resume(written) as writer:
        a_round(writer, some_selected(5))
        writer.snapshot(Place(writer.version, writer.rounds), {}, "")
        assert (reader.version, writer.version) == (160, 165)
        assert len(reader.entries(0, 165, None)) == 165


def test_a_reader_beside_a_run_that_goes_back_sees_one_state(written: Path):
    with RunFile.resume(written) as writer, RunFile.read(written) as reader:
        with reader.one_state():
            writer.drop_short_round(Plan(1000, 200, 100, 1))
            assert writer.rounds == 3
            assert [len(each.entries) for each in reader.stretches(Place(0, 0), None)] == [40] * 4
        with reader.one_state():
            assert [len(each.entries) for each in reader.stretches(Place(0, 0), None)] == [40] * 3
