from __future__ import annotations

from dataclasses import replace

from paraactive.data.events import NodeTimes
from paraactive.data.examples import Selected
from paraactive.schedules.rounds import round_of, times_of
from paraactive.sifting.log import MemoryLog
from paraactive.sifting.node import Sifted

ROWS = Selected.weighted([[0.0], [1.0], [2.0]], [-1, 1, 1])


def _sifted(node: int, selected: int, **seconds: float) -> Sifted:
    part = replace(Sifted.nothing(10, 1, node), selected=ROWS.take(slice(0, selected)), scored=5, lowered=1)
    return replace(part, **seconds)


def test_the_record_adds_up_what_the_nodes_report() -> None:
    parts = [_sifted(0, 2, fetch_seconds=1.0, sift_seconds=2.0), _sifted(1, 1, fetch_seconds=0.5, sift_seconds=4.0)]
    log = MemoryLog(keep=True)
    log.append(Selected.concatenate([part.selected for part in parts]))
    ended = round_of(parts, 20, log, 0.25, {2: 4.25})
    assert (ended.number, ended.seen, ended.version, ended.selected) == (0, 20, 3, 3)
    assert (ended.fetch_seconds, ended.sift_seconds, ended.update_seconds) == (1.5, 6.0, 0.25)
    assert (ended.scored, ended.lowered, ended.elapsed) == (10, 2, {2: 4.25})
    assert ended.nodes == times_of(parts, 0.25)


def test_a_node_with_its_own_replica_reports_its_own_seconds_of_learning() -> None:
    shared, own = _sifted(0, 0, sift_seconds=1.0), _sifted(1, 0, sift_seconds=1.0, update_seconds=2.0)
    assert times_of([shared, own], 0.5) == (
        NodeTimes(0, 0.0, 1.0, 0.5, 0.0, wait=1.5),
        NodeTimes(1, 0.0, 1.0, 2.0, 0.0, wait=0.0),
    )


def test_several_tiles_of_a_node_count_as_one_and_the_rest_of_a_known_time_is_waiting() -> None:
    tiles = [_sifted(3, 0, sift_seconds=1.0, update_seconds=0.25, transfer_seconds=0.125) for _ in range(2)]
    assert times_of(tiles, 9.0, elapsed=4.0) == (NodeTimes(3, 0.0, 2.0, 0.5, 0.25, wait=1.25),)
    assert times_of(tiles, 9.0, elapsed=1.0)[0].wait == 0.0
