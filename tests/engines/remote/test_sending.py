"""Sending stretches of the log, or whole models."""

from __future__ import annotations

import pytest

from engines.stretches import DIGESTS, STRETCHES, replica, svm
from paraactive.engines.remote import sending
from paraactive.engines.remote.letters import Letter
from paraactive.engines.remote.mailbox import Mailbox
from paraactive.engines.remote.messages import FromNode, Gone, Learn, Load, ToNode
from paraactive.engines.remote.remote_node import RemoteNode
from paraactive.engines.remote.sending import Sender
from paraactive.sifting.node import Node


class Recording:
    """A transport that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, ToNode]] = []

    def start(self, number: int) -> None: ...

    def send(self, number: int, letter: Letter[ToNode]) -> None:
        self.sent.append((number, letter.message))

    def receive(self, timeout: float | None) -> tuple[int, Letter[FromNode] | Gone] | None: ...

    def end(self, number: int) -> None: ...

    def close(self) -> None: ...


class Sending:
    """A sender with one node, and a replica that does what the node is sent."""

    def __init__(self, updates: str) -> None:
        self.driver, self.replica, self.node = replica(svm()), replica(svm()), RemoteNode(0, ready=True)
        self.transport = Recording()
        self.sender = Sender(self.driver, Mailbox(self.transport, {0: self.node}), updates)

    def learn(self, *numbers: int) -> None:
        for number in numbers:
            self.sender.remember(STRETCHES[number])
            self.driver.learn(STRETCHES[number])

    def update(self) -> list[type[ToNode]]:
        """Bring the node up to date. Returns the kinds of messages that it was sent."""
        self.transport.sent.clear()
        self.sender.update(self.node)
        messages = [message for _, message in self.transport.sent]
        for message in messages:
            _do(self.replica, message)
        return [type(message) for message in messages]


def _do(node: Node, message: ToNode) -> None:
    if isinstance(message, Load):
        message.replica.load_into(node)
    elif isinstance(message, Learn):
        for stretch in message.stretches:
            node.learn(stretch)


def test_a_node_is_sent_the_stretches_that_it_lacks_once() -> None:
    run = Sending("replicated")
    run.learn(0, 1, 2)
    assert run.update() == [Learn]
    assert run.update() == []
    run.learn(3)
    assert run.update() == [Learn]
    assert run.replica.learner.digest() == DIGESTS[STRETCHES[3].ends]
    assert run.node.seen == STRETCHES[3].seen
    assert run.node.unanswered_bytes > 0


def test_with_central_updates_a_node_is_sent_the_model() -> None:
    run = Sending("central")
    run.learn(0, 1, 2)
    assert run.update() == [Load]
    assert run.update() == []
    assert run.replica.learner.digest() == DIGESTS[STRETCHES[2].ends]


def test_a_node_that_is_too_far_behind_is_sent_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "_WINDOW_BYTES", 1)
    run = Sending("replicated")
    run.learn(0, 1)
    assert run.update() == [Load]
    run.learn(2)
    assert run.update() == [Learn]
    assert run.replica.learner.digest() == DIGESTS[STRETCHES[2].ends]


def test_a_model_that_lacks_the_last_stretch_is_followed_by_that_stretch() -> None:
    run = Sending("replicated")
    run.learn(0, 1)
    run.sender.remember(STRETCHES[2])
    run.sender.send_model(run.node)
    _do(run.replica, run.transport.sent[0][1])
    assert run.replica.learner.digest() == DIGESTS[STRETCHES[1].ends]
    run.driver.learn(STRETCHES[2])
    assert run.update() == [Learn]
    assert run.replica.learner.digest() == DIGESTS[STRETCHES[2].ends]
