"""The node's side: messages are handled in order, on one core."""

from __future__ import annotations

import pytest

from engines.stretches import DIGESTS, STRETCHES, replica, svm
from paraactive.data.examples import Tile
from paraactive.engines.remote.host import Host, portable
from paraactive.engines.remote.letters import Outgoing
from paraactive.engines.remote.messages import (
    Check,
    Digest,
    Done,
    Failed,
    Fresh,
    FromNode,
    Learn,
    Load,
    Ready,
    Stop,
    ToNode,
)
from paraactive.engines.replica import ReplicaState
from paraactive.errors import NodesLostError
from paraactive.sifting.node import Node


def answers(node: Node, *messages: ToNode) -> list[FromNode]:
    """What a host answers to messages that all wait when it starts."""
    said: list[FromNode] = []
    outgoing = Outgoing[ToNode]()
    host = Host(node, lambda letter: said.append(letter.message))
    for message in (*messages, Stop()):
        host.deliver(outgoing.letter(message))
    host.serve()
    assert isinstance(said[0], Ready)
    return said[1:]


def test_tiles_of_a_round_are_sifted_with_the_model_that_was_sent_before() -> None:
    first, second = answers(
        replica(svm()),
        Learn(STRETCHES[:1]),
        Fresh(Tile(60, 90), 7, 60),
        Learn(STRETCHES[1:2]),
        Fresh(Tile(90, 99), 8, 60),
    )
    assert isinstance(first, Done)
    assert isinstance(second, Done)
    assert [first.part, second.part] == [7, 8]
    assert set(first.published.sifted.selected.version.tolist()) == {STRETCHES[0].ends.version}
    assert set(second.published.sifted.selected.version.tolist()) <= {STRETCHES[1].ends.version}
    assert first.published.seen == 60
    assert (first.published.sifted.update_seconds or 0.0) > 0


def test_without_rounds_stretches_behind_a_tile_are_learned_first_but_not_those_behind_a_check() -> None:
    tile = Tile(90, 99)
    one, digest, other = answers(
        replica(svm()),
        Learn(STRETCHES[:1]),
        Fresh(tile),
        Learn(STRETCHES[1:3]),
        Check(),
        Learn(STRETCHES[3:5]),
        Fresh(tile),
    )
    assert isinstance(one, Done)
    assert isinstance(other, Done)
    assert digest == Digest(DIGESTS[STRETCHES[2].ends])
    assert [one.published.seen, other.published.seen] == [STRETCHES[2].seen, STRETCHES[4].seen]


def test_a_whole_model_takes_the_place_of_what_was_learned() -> None:
    ahead = replica(svm())
    for stretch in STRETCHES[:10]:
        ahead.learn(stretch)
    said = answers(
        replica(svm()), Learn(STRETCHES[:2]), Load(ReplicaState.of(ahead)), Check(), Learn(STRETCHES[10:11]), Check()
    )
    assert said == [Digest(DIGESTS[STRETCHES[9].ends]), Digest(DIGESTS[STRETCHES[10].ends])]


def test_an_error_is_sent_to_the_driver() -> None:
    (failed,) = answers(replica(svm()), Learn(STRETCHES[1:2]))
    assert isinstance(failed, Failed)
    assert "entries from 60 on for a model that has learned 0" in str(failed.error)


def test_an_error_that_cannot_be_pickled_is_sent_as_text() -> None:
    class LocalError(Exception):
        pass

    error = portable(LocalError("of this test"))
    assert isinstance(error, NodesLostError)
    with pytest.raises(NodesLostError, match="a node failed with LocalError: of this test"):
        raise error
    known = ValueError("known everywhere")
    assert portable(known) is known
