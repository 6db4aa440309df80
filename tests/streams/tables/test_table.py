"""`Table`: Parquet and CSV files as a stream, row for row what is in them."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paraactive.checks import check_stream
from paraactive.data.examples import Examples
from paraactive.errors import InputError
from paraactive.streams import Stream, Table
from paraactive.streams.tables.table_files import DecodedRows
from streams.tabling import csv, frame, parquet, same

WRITERS: dict[str, Callable[[Path, Any], Path]] = {
    "rows.parquet": lambda path, data: parquet(path, data),
    "rows.csv": lambda path, data: csv(path, data),
    "rows.tsv": lambda path, data: csv(path, data, sep="\t"),
}


@pytest.fixture(params=WRITERS)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, pd.DataFrame]:
    data = frame()
    return WRITERS[request.param](tmp_path / request.param, data), data


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces are shards, and a window has a few of them."""
    monkeypatch.setattr("paraactive.streams.tables.shards.SHARD_BYTES", 0)
    monkeypatch.setattr("paraactive.streams.tables.shards.WINDOW_BYTES", 44 * 33)
    monkeypatch.setattr("paraactive.streams.tables.csv_files.BLOCK", 700)


def test_the_rows_are_those_that_pandas_reads(written: tuple[Path, pd.DataFrame]):
    path, data = written
    stream: Stream = Table(path)
    assert (stream.width, stream.length, stream.classes, stream.regenerates) == (3, 60, ("ham", "spam"), False)
    piece = stream.read(0, 60)
    assert sorted(piece.key.tolist()) == list(range(60))
    rows = data.iloc[piece.key.tolist()]
    assert (piece.x == rows[["f0", "f1", "f2"]].to_numpy(np.float32)).all()
    assert (piece.y == np.where(rows["y"] == "spam", 1, -1)).all()
    assert (piece.importance == 1).all()


def test_it_says_what_it_is(written: tuple[Path, pd.DataFrame]):
    path, data = written
    table = Table(str(path), seed=5, passes=None)
    assert (table.rows, table.length, table.source, table.label) == (60, None, str(path), "y")
    assert table.counts == tuple((data["y"] == name).sum() for name in ("ham", "spam"))
    assert table.feature_names == ("f0", "f1", "f2")
    assert repr(table) == f"Table({str(path)!r}, label='y', seed=5, shuffle=True, passes=None)"


@pytest.mark.parametrize("options", [{}, {"passes": 3}, {"passes": None, "seed": 9}, {"shuffle": False}], ids=str)
@pytest.mark.usefixtures("small_shards")
def test_it_keeps_the_contract_of_a_stream(written: tuple[Path, pd.DataFrame], options: dict[str, Any]):
    check_stream(Table(written[0], **options))


@pytest.mark.parametrize("group", [1, 7, 16, 59, 60, 1000])
def test_it_keeps_the_contract_whatever_the_row_groups(tmp_path: Path, group: int):
    check_stream(Table(parquet(tmp_path / "a.parquet", frame(classes=(1, 2, 3)), group), passes=2))


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=6),
    st.integers(1, 3),
    st.integers(0, 2**63),
    st.booleans(),
    st.data(),
)
@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("small_shards")
def test_each_pass_has_every_row_once_in_uneven_row_groups(
    tmp_path: Path, groups: list[int], passes: int, seed: int, shuffle: bool, data: st.DataObject
):
    rows = sum(groups) + 1
    whole = pa.Table.from_pandas(frame(rows), preserve_index=False)
    with pq.ParquetWriter(tmp_path / "a.parquet", whole.schema) as writer:
        done = 0
        for size in (*groups, 1):
            writer.write_table(whole.slice(done, size))
            done += size
    table = Table(tmp_path / "a.parquet", seed=seed, passes=passes, shuffle=shuffle, classes=("ham", "spam"))
    whole_stream = table.read(0, rows * passes)
    keys = whole_stream.key.reshape(passes, rows)
    assert (np.sort(keys, axis=1) == np.arange(rows)).all()
    if not shuffle:
        assert (keys == np.arange(rows)).all()
    cut = data.draw(st.integers(0, rows * passes))
    assert same(whole_stream, Examples.concatenate([table.read(0, cut), table.read(cut, rows * passes)]))


@pytest.mark.usefixtures("small_shards")
def test_passes_and_seeds_have_orders_of_their_own(tmp_path: Path):
    path = parquet(tmp_path / "a.parquet", frame())
    orders = [Table(path, seed=seed, passes=3).read(60 * k, 60 * k + 60).key for seed in (1, 2) for k in range(3)]
    assert len({tuple(order.tolist()) for order in orders}) == 6
    assert len({tuple(order[:16].tolist()) for order in orders}) == 6


@pytest.mark.usefixtures("small_shards")
def test_a_window_of_shards_is_passed_before_the_next_begins(tmp_path: Path):
    keys = Table(parquet(tmp_path / "a.parquet", frame(96)), seed=3).read(0, 96).key
    windows = [set((keys[start : start + 32] // 16).tolist()) for start in (0, 32, 64)]
    assert [len(window) for window in windows] == [2, 2, 2]
    assert set.union(*windows) == set(range(6))


def test_a_table_of_one_window_is_shuffled_as_a_whole(tmp_path: Path):
    keys = Table(parquet(tmp_path / "a.parquet", frame(400), 20)).read(0, 40).key
    assert len(set((keys // 20).tolist())) > 10


class Decodes:
    """Counts how often each shard is decoded."""

    def __init__(self, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count: dict[int, int] = {}
        decode = table._decode

        def counted(number: int) -> DecodedRows:
            self.count[number] = self.count.get(number, 0) + 1
            return decode(number)

        monkeypatch.setattr(table, "_decode", counted)


@pytest.mark.parametrize("portions", [1, 4])
@pytest.mark.parametrize("batch", [8, 24, 40])
@pytest.mark.usefixtures("small_shards")
def test_reading_on_decodes_each_shard_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, portions: int, batch: int):
    monkeypatch.setattr("paraactive.streams.tables.table.CACHE_BYTES", (4 if batch < 32 else 8) * 16 * 13)
    table = Table(parquet(tmp_path / "a.parquet", frame(960)))
    decodes = Decodes(table, monkeypatch)
    with ThreadPoolExecutor(portions) as threads:
        for first in range(0, 960, batch):
            cuts = np.linspace(first, min(first + batch, 960), portions + 1).astype(int).tolist()
            list(threads.map(table.read, cuts[:-1], cuts[1:]))
    assert decodes.count == dict.fromkeys(range(60), 1)


@pytest.mark.usefixtures("small_shards")
def test_what_is_kept_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("paraactive.streams.tables.table.CACHE_BYTES", 3 * 16 * 13)
    table = Table(parquet(tmp_path / "a.parquet", frame(960)))
    for first in range(0, 960, 16):
        table.read(first, first + 16)
        assert len(table._cache._values) <= 3


@pytest.mark.usefixtures("small_shards")
def test_row_groups_beyond_the_bound_are_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("paraactive.streams.tables.table.CACHE_BYTES", 1)
    table = Table(parquet(tmp_path / "a.parquet", frame(200), 50))
    decodes = Decodes(table, monkeypatch)
    keys = np.concatenate([table.read(first, first + 8).key for first in range(0, 200, 8)])
    assert sorted(keys.tolist()) == list(range(200))
    assert decodes.count == dict.fromkeys(range(4), 1)


@pytest.mark.usefixtures("small_shards")
def test_many_threads_read_what_one_does(written: tuple[Path, pd.DataFrame], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("paraactive.streams.tables.table.CACHE_BYTES", 1)
    table = Table(written[0], passes=20)
    expected = table.read(0, 1200)
    fresh = Table(written[0], passes=20)
    with ThreadPoolExecutor(8) as threads:
        pieces = list(threads.map(fresh.read, range(0, 1200, 10), range(10, 1210, 10)))
    assert same(expected, Examples.concatenate(pieces))


def test_it_travels_to_another_process_as_its_path(written: tuple[Path, pd.DataFrame], tmp_path: Path):
    table = Table(written[0], seed=2)
    expected = table.read(5, 50)  # What was decoded stays here.
    sent = pickle.dumps(table)
    assert len(sent) < 5000
    (tmp_path / "sent").write_bytes(sent)
    program = (
        "import pickle, sys; table = pickle.load(open(sys.argv[1], 'rb'));"
        "sys.stdout.buffer.write(pickle.dumps((table.read(5, 50), table.fingerprint, table.counts)))"
    )
    out = subprocess.run([sys.executable, "-c", program, tmp_path / "sent"], capture_output=True, check=True).stdout
    piece, fingerprint, counts = pickle.loads(out)
    assert same(piece, expected)
    assert (fingerprint, counts) == (table.fingerprint, table.counts)


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_a_node_that_has_another_file_says_so(tmp_path: Path, name: str):
    sent = pickle.dumps(Table(WRITERS[name](tmp_path / name, frame())))
    WRITERS[name](tmp_path / name, frame(seed=1))
    with pytest.raises(InputError, match="has other data than when the stream was created"):
        pickle.loads(sent).read(0, 60)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_several_files_are_one_table(tmp_path: Path, suffix: str):
    data = frame(90)
    (tmp_path / "part" / "_temporary").mkdir(parents=True)
    for number, cut in enumerate((slice(0, 20), slice(20, 85), slice(85, 90))):
        WRITERS[f"rows.{suffix}"](tmp_path / "part" / f"{number}.{suffix}", data[cut])
    WRITERS[f"rows.{suffix}"](tmp_path / "part" / "_temporary" / f"9.{suffix}", data)
    (tmp_path / "part" / "README.md").write_text("not a table")
    whole = Table(WRITERS[f"rows.{suffix}"](tmp_path / f"whole.{suffix}", data), shuffle=False)
    files = [tmp_path / "part" / f"{number}.{suffix}" for number in range(3)]
    for path in (tmp_path / "part", str(tmp_path / "part" / f"*.{suffix}"), files):
        table = Table(path, shuffle=False)
        assert same(table.read(0, 90), whole.read(0, 90))
        assert (table.counts, table.classes) == (whole.counts, whole.classes)
        check_stream(Table(path, passes=2))


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_an_address_is_read_through_fsspec(tmp_path: Path, name: str):
    path = WRITERS[name](tmp_path / name, frame())
    memory = fsspec.filesystem("memory")
    for place in (f"/tables/{name}", f"/tables/part=2/{name}"):
        memory.pipe(place, path.read_bytes())
    one = Table(f"memory://tables/{name}")
    assert same(one.read(0, 60), Table(path).read(0, 60))
    assert one.source == f"memory://tables/{name}"
    assert one.fingerprint == Table(path).fingerprint
    check_stream(one)
    assert Table("memory://tables", shuffle=False).rows == 120
    assert Table(f"memory://tables/p*/{name}").rows == 60
    with pytest.raises(InputError, match=r"no file memory://tables/none\.csv"):
        Table("memory://tables/none.csv")
    memory.rm("/tables", recursive=True)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_columns_are_chosen_by_name(tmp_path: Path, suffix: str):
    data = frame().assign(name="Ann", cost=np.arange(60) + 0.5)
    path = WRITERS[f"rows.{suffix}"](tmp_path / f"a.{suffix}", data)
    table = Table(path, "y", features=["f2", "f0"], weight="cost", shuffle=False)
    piece = table.read(0, 60)
    assert (piece.x == data[["f2", "f0"]].to_numpy(np.float32)).all()
    assert (piece.importance == data["cost"]).all()
    check_stream(table)


def test_the_fingerprint_tells_data_apart_and_nothing_else(tmp_path: Path):
    for write in (parquet, csv):
        suffix = write.__name__
        mine = Table(write(tmp_path / f"a.{suffix}", frame())).fingerprint
        assert mine == Table(write(tmp_path / f"b.{suffix}", frame()), seed=3, passes=2).fingerprint
        swapped = frame()
        swapped["y"] = swapped["y"].to_numpy()[::-1]
        others = [
            Table(write(tmp_path / f"c.{suffix}", frame(seed=1))).fingerprint,
            Table(write(tmp_path / f"d.{suffix}", swapped)).fingerprint,
            Table(write(tmp_path / f"e.{suffix}", frame(59))).fingerprint,
            Table(tmp_path / f"a.{suffix}", features=["f0", "f1"]).fingerprint,
        ]
        assert len({mine, *others}) == 5
