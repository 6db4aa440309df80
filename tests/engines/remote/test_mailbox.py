from __future__ import annotations

from collections import deque
from typing import cast

import pytest

from paraactive.engines.remote.letters import Letter
from paraactive.engines.remote.mailbox import Mailbox
from paraactive.engines.remote.messages import Check, Digest, FromNode, Gone, Stop, ToNode
from paraactive.engines.remote.remote_node import RemoteNode
from paraactive.engines.remote.transport import Transport


class Post:
    """Letters that have arrived, and those that were sent."""

    def __init__(self) -> None:
        self.arrived: deque[tuple[int, Letter[FromNode] | Gone]] = deque()
        self.sent: list[tuple[int, Letter[ToNode]]] = []
        self.waited: list[float | None] = []

    def send(self, number: int, letter: Letter[ToNode]) -> None:
        self.sent.append((number, letter))

    def receive(self, timeout: float | None) -> tuple[int, Letter[FromNode] | Gone] | None:
        self.waited.append(timeout)
        return self.arrived.popleft() if self.arrived else None


@pytest.fixture
def post() -> Post:
    return Post()


@pytest.fixture
def mailbox(post: Post) -> Mailbox:
    return Mailbox(cast(Transport, post), {number: RemoteNode(number) for number in (0, 1)})


def test_letters_of_each_node_are_read_in_the_order_of_writing(post: Post, mailbox: Mailbox) -> None:
    post.arrived.extend(
        [(0, Letter(1, Digest("second"))), (1, Letter(0, Digest("other"))), (0, Letter(0, Digest("first")))]
    )
    read = [mailbox.next(0.0, patience=8.0) for _ in range(5)]
    assert read == [None, (1, Digest("other")), (0, Digest("first")), (0, Digest("second")), None]


def test_letters_of_unknown_nodes_are_dropped_and_the_end_of_a_node_is_read_at_once(
    post: Post, mailbox: Mailbox
) -> None:
    post.arrived.extend([(7, Letter(0, Digest("of no node"))), (1, Letter(3, Digest("early"))), (1, Gone("killed"))])
    for _ in range(3):
        mailbox.collect(0.0)
    assert mailbox.has_message_of(1)
    assert not mailbox.has_message_of(7)
    assert mailbox.next(0.0, patience=8.0) == (1, Gone("killed"))
    assert not mailbox.has_message_of(1)


def test_messages_are_numbered_by_node(post: Post, mailbox: Mailbox) -> None:
    one, other = RemoteNode(0), RemoteNode(1)
    for node, message in ((one, Check()), (other, Check()), (one, Stop())):
        mailbox.post(node, message)
    assert post.sent == [(0, Letter(0, Check())), (1, Letter(0, Check())), (0, Letter(1, Stop()))]


def test_it_waits_for_a_fraction_of_the_patience_and_counts_only_waiting(post: Post, mailbox: Mailbox) -> None:
    for timeout, patience in ((None, 4.0), (None, 80.0), (0.25, 80.0)):
        mailbox.next(timeout, patience)
    assert post.waited == [0.5, 1.0, 0.25]
    assert 0.0 < mailbox.listened < 0.1
