from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from typing import cast

import pytest

from disk import wait_until
from paraactive.engines.remote import ray_head
from paraactive.engines.remote.ray_api import Ray
from paraactive.engines.remote.ray_head import HeadWatch, patient_with_the_head, shut_down
from paraactive.errors import ClusterLostError, NodeWarning


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeadWatch]:
    """A watch of an address at which no program listens, and which it asks often."""
    monkeypatch.setattr(ray_head, "_SECONDS_BETWEEN_PINGS", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    watch = HeadWatch(address)
    yield watch
    watch.close()


def test_a_head_that_is_dead_is_silent_from_then_on(watch: HeadWatch) -> None:
    wait_until(lambda: watch.silent > 0.02)
    assert not watch.answers


def test_a_head_that_answers_is_not_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_head, "_SECONDS_BETWEEN_PINGS", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        watch = HeadWatch(f"127.0.0.1:{listener.getsockname()[1]}")
        try:
            for _ in range(3):
                connection, _ = listener.accept()
                with connection:
                    assert connection.recv(99).startswith(b"PRI * HTTP/2.0")
                    connection.sendall(bytes(9))
            assert watch.answers
        finally:
            watch.close()


def test_silence_is_a_warning_once_and_then_an_error(watch: HeadWatch) -> None:
    watch.close()
    watch.silent = 6.0
    with pytest.warns(NodeWarning, match="has not answered for 6 s; the run ends if it does not answer within 40 s"):
        watch.check()
    watch.check()  # A second warning would be an error here.
    watch.silent = 41.0
    with pytest.raises(ClusterLostError, match="it has not answered for 40 s"):
        watch.check()


def test_the_setting_for_rays_own_patience_holds_inside_only(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "RAY_gcs_rpc_server_reconnect_timeout_s"
    monkeypatch.delenv(name, raising=False)
    with patient_with_the_head():
        assert os.environ[name] == "86400"
    assert name not in os.environ
    monkeypatch.setenv(name, "7")
    with patient_with_the_head():
        assert os.environ[name] == "7"
    assert os.environ[name] == "7"


def test_an_error_of_the_shutdown_is_not_raised() -> None:
    class Failing:
        calls = 0

        def shutdown(self) -> None:
            self.calls += 1
            raise RuntimeError("the head is dead")

    ray = Failing()
    shut_down(cast(Ray, ray))
    assert ray.calls == 1
