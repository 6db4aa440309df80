"""A model that several threads sift with while one thread learns."""

from __future__ import annotations

import threading
from contextlib import ExitStack

from hypothesis import given, settings
from hypothesis import strategies as st

from engines.stretches import DIGESTS, STRETCHES, replica, svm
from paraactive.data.examples import Place
from paraactive.engines.shared import SharedModel
from paraactive.sifting.node import Node


def _shared() -> SharedModel:
    node = replica(svm())
    node.learn(STRETCHES[0])
    return SharedModel(node)


def test_a_thread_that_reads_sees_the_same_model_while_another_learns() -> None:
    shared = _shared()
    with shared.reading() as front:
        before, place = front.learner.digest(), front.place
        shared.learn(STRETCHES[1])
        assert (front.learner.digest(), front.place) == (before, place)
        assert shared.latest.learner.digest() == DIGESTS[STRETCHES[1].ends]
        with shared.reading() as next_front:
            assert next_front.learner.digest() == DIGESTS[STRETCHES[1].ends]
    assert [copy.learner.digest() for copy in shared.finish()] == [DIGESTS[STRETCHES[1].ends]] * 2


def test_the_replica_that_was_given_has_learned_everything_at_the_end() -> None:
    node = replica(svm())
    shared = SharedModel(node)
    for stretch in STRETCHES:
        shared.learn(stretch)
    copies = shared.finish()
    assert any(copy is node for copy in copies)
    assert [copy.seen for copy in copies] == [STRETCHES[-1].seen] * 2
    assert node.learner.digest() == DIGESTS[STRETCHES[-1].ends]


def test_learning_waits_for_the_last_reader_of_the_older_copy() -> None:
    shared = _shared()
    with shared.reading() as front:
        before = front.learner.digest()
        shared.learn(STRETCHES[1])
        learning = threading.Thread(target=shared.learn, args=(STRETCHES[2],))
        learning.start()
        assert front.learner.digest() == before
    learning.join(timeout=60)
    assert not learning.is_alive()
    assert [copy.learner.digest() for copy in shared.finish()] == [DIGESTS[STRETCHES[2].ends]] * 2


@given(acts=st.lists(st.sampled_from(["enter", "leave", "learn"]), max_size=len(STRETCHES) - 1))
@settings(max_examples=80, deadline=None)
def test_readers_see_whole_models_in_any_order_of_learning_and_reading(acts: list[str]) -> None:
    shared, reading, waiting = _shared(), list[tuple[ExitStack, Node, Place]](), list(reversed(STRETCHES[1:]))
    latest = STRETCHES[0].ends
    for act in acts:
        if act == "enter":
            stack = ExitStack()
            reading.append((stack, stack.enter_context(shared.reading()), latest))
        elif act == "leave" and reading:
            reading.pop(0)[0].close()
        elif act == "learn" and not any(node is shared._back for _, node, _ in reading):  # It would wait for them.
            latest = waiting[-1].ends
            shared.learn(waiting.pop())
        for _, node, place in reading:
            assert node.place == place
            assert node.learner.digest() == DIGESTS[place]
    for stack, _, _ in reading:
        stack.close()
    assert {copy.learner.digest() for copy in shared.finish()} == {DIGESTS[latest]}


def test_threads_that_read_all_the_time_never_see_half_of_an_update() -> None:
    shared, over, wrong = _shared(), threading.Event(), list[Place]()

    def read() -> None:
        while not over.is_set():
            with shared.reading() as front:
                place, digest = front.place, front.learner.digest()
                if digest != DIGESTS[place] or (front.place, front.learner.digest()) != (place, digest):
                    wrong.append(place)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for stretch in STRETCHES[1:]:
            shared.learn(stretch)
    finally:
        over.set()
        for reader in readers:
            reader.join(timeout=60)
    assert wrong == []
    assert [copy.learner.digest() for copy in shared.finish()] == [DIGESTS[STRETCHES[-1].ends]] * 2
