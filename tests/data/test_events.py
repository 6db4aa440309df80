"""Events of a run: one type for all of them, and values that travel."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any, get_args

import pytest

from paraactive.data import events
from paraactive.data.events import NODE_TIMES, Event, NodeTimes, Round, RunEnded


def test_every_event_of_the_module_is_an_event() -> None:
    own = {each for each in vars(events).values() if isinstance(each, type) and each.__module__ == events.__name__}
    assert set(get_args(Event)) == own - {NodeTimes}


def test_the_activities_are_the_times_of_a_node() -> None:
    assert ("node", *NODE_TIMES) == tuple(field.name for field in dataclasses.fields(NodeTimes))


@pytest.mark.parametrize("kind", get_args(Event), ids=lambda kind: kind.__name__)
def test_an_event_cannot_be_changed_and_is_the_same_in_another_process(kind: Any) -> None:
    values = {field.name: place for place, field in enumerate(dataclasses.fields(kind))}
    event = kind(**values)
    assert pickle.loads(pickle.dumps(event)) == event
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(event, next(iter(values)), None)


def test_two_events_share_no_dictionary() -> None:
    rounds = [Round(1, 2, 3, 4, 0.1, 0.2, 0.3) for _ in range(2)]
    rounds[0].elapsed[1] = 0.5
    assert rounds[1].elapsed == {}
    ends = [RunEnded(1, 2, "d") for _ in range(2)]
    ends[0].replicas[0] = "d"
    assert ends[1].replicas == {}
