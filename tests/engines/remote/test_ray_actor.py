from __future__ import annotations

import pickle
from typing import cast

import pytest

from engines.stretches import DIGESTS, STRETCHES, replica, svm
from paraactive.engines.remote import ray_actor
from paraactive.engines.remote.letters import Incoming, Outgoing
from paraactive.engines.remote.messages import Check, Digest, Failed, FromNode, Learn, Ready, Stop, ToNode
from paraactive.engines.remote.ray_actor import NodeActor, not_startable, pickled
from paraactive.engines.remote.ray_api import ObjectRef
from paraactive.sifting.node import Node

BLUEPRINT = [cast(ObjectRef, object())]


def _messages(actor: NodeActor, count: int) -> list[FromNode]:
    incoming, messages = Incoming[FromNode](), list[FromNode]()
    while len(messages) < count:
        for letter in actor.take():
            messages += incoming.accept(pickle.loads(letter))
    return messages


def test_it_serves_a_node_of_its_own_through_pickled_letters(monkeypatch: pytest.MonkeyPatch) -> None:
    blueprint = replica(svm())

    def opened(_: ObjectRef) -> Node:
        return blueprint

    monkeypatch.setattr(ray_actor, "_open", opened)
    actor, outgoing = NodeActor(BLUEPRINT, 2), Outgoing[ToNode]()
    letters = [pickled(outgoing.letter(message)) for message in (Learn(STRETCHES[:5]), Check(), Stop())]
    for letter in reversed(letters):
        actor.put(letter)
    assert _messages(actor, 2) == [Ready(), Digest(DIGESTS[STRETCHES[4].ends])]
    assert blueprint.learner.digest() == svm().digest()


def test_a_blueprint_that_cannot_be_opened_is_an_error_for_the_driver(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(_: ObjectRef) -> Node:
        raise not_startable("a long traceback\nModuleNotFoundError: No module named 'only_here'\n")

    monkeypatch.setattr(ray_actor, "_open", failing)
    actor = NodeActor(BLUEPRINT, 0)
    actor.put(pickled(Outgoing[ToNode]().letter(Stop())))
    (failed,) = _messages(actor, 1)
    assert isinstance(failed, Failed)
    assert "cannot start a node: ModuleNotFoundError: No module named 'only_here'; install" in str(failed.error)
