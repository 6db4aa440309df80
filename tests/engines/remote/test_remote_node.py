from __future__ import annotations

from paraactive.engines.remote.letters import Letter
from paraactive.engines.remote.messages import Digest, Stop
from paraactive.engines.remote.remote_node import RemoteNode


def test_a_node_is_starting_then_available_and_neither_while_it_is_silent() -> None:
    node = RemoteNode(3)
    assert (node.starting, node.available) == (True, False)
    node.joined()
    assert (node.starting, node.available) == (False, True)
    node.silent = True
    assert (node.starting, node.available) == (False, False)


def test_waiting_begins_with_the_first_work_that_is_not_answered() -> None:
    node = RemoteNode(0)
    node.joined()
    for now in (1.0, 2.0):
        node.expect(now)
        node.tiles += 1
    assert (node.owes, node.since) == (True, 1.0)
    node.heard(5.0)
    assert node.since == 5.0


def test_the_successor_of_a_lost_node_owes_nothing_and_numbers_its_letters_anew() -> None:
    node = RemoteNode(0, tiles=2, checks=1, failures=1)
    node.joined()
    node.checks = 1
    node.outgoing.letter(Stop())
    node.incoming.accept(Letter(0, Digest("a")))
    node.lost(7.0)
    assert (node.owes, node.ready, node.since, node.failures) == (False, False, 7.0, 2)
    assert node.outgoing.letter(Stop()).number == 0
    assert node.incoming.accept(Letter(0, Digest("b"))) == [Digest("b")]
    node.heard(8.0)
    assert node.failures == 0
