from __future__ import annotations

import socket
import time
from importlib import import_module
from typing import Any

import pytest

from engines.stretches import replica, svm
from paraactive.engines import RayNodes
from paraactive.engines.remote import ray_probe
from paraactive.errors import ClusterError

ray: Any = import_module("ray")


def test_nobody_answers_at_the_address() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
    start = time.monotonic()
    with pytest.raises(ClusterError, match=f"{address}: no program listens there; start one with 'ray start --head'"):
        RayNodes(replica(svm()), address)
    assert time.monotonic() - start < 15
    assert not ray.is_initialized()


def test_something_that_is_not_ray_listens_at_the_address() -> None:
    start = time.monotonic()
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:  # The system accepts; nobody says anything.
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        with pytest.raises(ClusterError, match=f"{address}: a program listens there, but it does not answer as Ray"):
            RayNodes(replica(svm()), address)
    assert time.monotonic() - start < 15
    assert not ray.is_initialized()


@pytest.mark.parametrize("address", ["", "here", "10.0.0.1", "10.0.0.1:", ":6379", "10.0.0.1:head", "10.0.0.1:99999"])
def test_an_address_without_host_or_port_is_an_error(address: str) -> None:
    with pytest.raises(ClusterError, match=f"'{address}' is not the address .* HOST:PORT"):
        RayNodes(replica(svm()), address)


def test_the_address_of_a_ray_client_server_is_an_error() -> None:
    with pytest.raises(ClusterError, match=r"'ray://10\.0\.0\.1:10001' is not an address that engine 'ray' can join"):
        RayNodes(replica(svm()), "ray://10.0.0.1:10001")


@pytest.mark.parametrize(
    ("given", "reports", "modes", "joined"),
    [
        (None, {"disabled": ""}, ["disabled"], "disabled"),
        (None, {"disabled": "AuthenticationError", "token": ""}, ["disabled", "token"], "token"),
        ("token", {"token": ""}, ["token"], "token"),
    ],
)
def test_a_token_is_sent_only_if_the_cluster_of_this_machine_requires_it_or_the_user_asks(
    given: str | None, reports: dict[str, str], modes: list[str], joined: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[str] = []

    def reported(address: str, host: str, port: str, mode: str, seconds: float) -> str:
        tried.append(mode)
        return reports[mode]

    monkeypatch.setattr(ray_probe, "_try", reported)
    monkeypatch.delenv(ray_probe.MODE, raising=False)
    if given:
        monkeypatch.setenv(ray_probe.MODE, given)
    assert ray_probe.probe("auto") == joined
    assert tried == modes
