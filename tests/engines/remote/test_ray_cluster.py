from __future__ import annotations

import os
import signal
from typing import Any, cast

import pytest

from paraactive.engines.remote import ray_cluster
from paraactive.engines.remote.ray_api import Ray
from paraactive.errors import ClusterError


class FakeRay:
    """Notes how it is started, and may fail."""

    def __init__(self, error: Exception | None = None) -> None:
        self.started: list[tuple[str, dict[str, Any]]] = []
        self.error = error

    def init(self, address: str, **options: Any) -> None:
        self.started.append((address, options))
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # As Ray does.
        if self.error:
            raise self.error


def test_without_an_address_a_cluster_with_room_for_all_nodes_is_started() -> None:
    ray, many = FakeRay(), (os.cpu_count() or 1) + 3
    ray_cluster.connect(cast(Ray, ray), None, many)
    ((address, options),) = ray.started
    assert (address, options["num_cpus"]) == ("local", many)


def test_a_cluster_is_joined_in_the_mode_that_the_probe_found(monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[str | None] = []
    monkeypatch.setattr(ray_cluster, "probe", {"10.0.0.1:6379": "token"}.__getitem__)
    monkeypatch.setattr(ray_cluster, "set_mode", modes.append)
    ray = FakeRay()
    ray_cluster.connect(cast(Ray, ray), "10.0.0.1:6379", 4)
    assert modes == ["token"]
    assert [address for address, _ in ray.started] == ["10.0.0.1:6379"]


def test_an_error_of_ray_is_one_line_and_the_handler_of_sigterm_is_restored() -> None:
    def handler(*_: object) -> None:
        """What a user's program does at SIGTERM."""

    before = signal.signal(signal.SIGTERM, handler)
    try:
        with pytest.raises(
            ClusterError, match=r"could not be started or joined \(local\): no room; look into"
        ) as caught:
            ray_cluster.connect(cast(Ray, FakeRay(RuntimeError("no room\nand much more"))), None, 1)
        assert "much more" not in str(caught.value)
        assert signal.getsignal(signal.SIGTERM) is handler
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_mode_is_set_and_unset_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setattr(ray_cluster, "read_authentication_mode_again", lambda: None)
    ray_cluster.set_mode("token")
    assert os.environ["RAY_AUTH_MODE"] == "token"
    ray_cluster.set_mode(None)
    assert "RAY_AUTH_MODE" not in os.environ
