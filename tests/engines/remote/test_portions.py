"""The portions of one round."""

from __future__ import annotations

from engines.stretches import STRETCHES, replica, svm
from paraactive.data.examples import Selected, Tile
from paraactive.engines.remote.messages import Done, Fresh
from paraactive.engines.remote.portions import Portions
from paraactive.schedules.engine import Published
from paraactive.sifting.node import Node


def node() -> Node:
    found = replica(svm())
    found.learn(STRETCHES[0])
    return found


def answer(sifter: Node, number: int, fresh: Fresh) -> Done:
    assert fresh.seen is not None
    sifted = sifter.numbered(number).sift(*fresh.tile, fresh.seen)
    return Done(fresh.part, Published(number, fresh.tile, sifted, fresh.seen))


def test_the_first_answer_to_a_part_wins_and_the_order_is_that_of_the_stream() -> None:
    portions, sifter = Portions(), node()
    portions.begin(60, 160, 60, 2)
    first, second = list(portions.unassigned())
    tasks = [part.assign(number) for number, part in enumerate((first, second))]
    assert [task.tile for task in tasks] == [Tile(60, 110), Tile(110, 160)]
    assert not list(portions.unassigned())
    portions.take_back(0)
    assert list(portions.unassigned()) == [first]
    again = first.assign(1)
    for number, task in ((1, tasks[1]), (1, again), (0, tasks[0])):
        portions.accept(answer(sifter, number, task))
    assert portions.finished
    assert [part.last for part in portions.sifted()] == [110, 160]
    assert [part.node for part in portions.sifted()] == [1, 1]
    assert all(part.transfer_seconds >= 0 for part in portions.sifted())


def test_a_late_answer_is_not_taken_for_one_of_the_next_round() -> None:
    portions, sifter = Portions(), node()
    portions.begin(60, 100, 60, 1)
    (part,) = portions.unassigned()
    late = answer(sifter, 0, part.assign(0))
    portions.sift_here(sifter.numbered(-1))
    assert portions.finished
    portions.begin(100, 140, 100, 1)
    portions.accept(late)
    assert not portions.finished


def test_the_driver_sifts_chunk_by_chunk_to_the_same_result() -> None:
    portions, sifter = Portions(), node()
    portions.begin(60, 2500, 60, 1)
    chunks = 0
    while not portions.finished:
        portions.sift_here(sifter.numbered(-1))
        chunks += 1
    assert chunks == 3
    (sifted,) = portions.sifted()
    whole = sifter.sift(60, 2500, 60)
    assert_same(sifted.selected, whole.selected)
    assert sifted.node == -1


def assert_same(one: Selected, other: Selected) -> None:
    assert one.examples.index.tolist() == other.examples.index.tolist()
    assert one.p.tolist() == other.p.tolist()
