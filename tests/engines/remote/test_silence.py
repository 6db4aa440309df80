"""When a node that owes an answer counts as silent."""

from __future__ import annotations

from dataclasses import replace

from paraactive.engines.remote.remote_node import RemoteNode
from paraactive.engines.remote.silence import SECONDS_TO_START, Silence
from paraactive.sifting.node import Sifted


def test_a_node_is_late_only_if_it_owes_an_answer() -> None:
    idle, tile, check = (RemoteNode(number, since=10.0, ready=True) for number in range(3))
    tile.tiles, check.checks = 1, 1
    silence = Silence(2.0)
    assert silence.find([idle, tile, check], 12.0) == ([], [])
    assert silence.find([idle, tile, check], 12.5) == ([tile, check], [])
    tile.silent = True
    assert silence.find([idle, tile, check], 12.5) == ([check], [])


def test_a_node_that_does_not_start_is_missing_after_a_minute() -> None:
    node = RemoteNode(0, since=1.0)
    assert Silence(0.1).find([node], 1.0 + SECONDS_TO_START) == ([], [])
    assert Silence(0.1).find([node], 1.5 + SECONDS_TO_START) == ([], [node])


def test_the_limit_grows_with_the_slowest_answer() -> None:
    silence = Silence(2.0)
    silence.answered(replace(Sifted.nothing(5, 2), sift_seconds=0.1, fetch_seconds=0.1))
    assert silence.limit == 2.0
    silence.answered(replace(Sifted.nothing(5, 2), sift_seconds=1.0, queued_seconds=0.5, update_seconds=0.5))
    assert silence.limit == 10.0
    silence.took(0.3)
    assert silence.limit == 10.0
