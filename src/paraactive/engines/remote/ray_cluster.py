"""Joining a Ray cluster, or starting one on this machine."""

from __future__ import annotations

import logging
import os
import signal
import threading
import warnings
from collections.abc import Generator
from contextlib import contextmanager

from paraactive.engines.remote.ray_api import Ray
from paraactive.engines.remote.ray_head import patient_with_the_head
from paraactive.engines.remote.ray_private import on_loopback_and_quiet, read_authentication_mode_again
from paraactive.engines.remote.ray_probe import MODE, probe
from paraactive.errors import ClusterError


def connect(ray: Ray, address: str | None, nodes: int) -> None:
    """Join a cluster, or start one.

    Parameters
    ----------
    ray : module
        The module ray.
    address : str, optional
        HOST:PORT, or "auto" for a cluster of this machine. None: start one.
    nodes : int
        Least number of nodes for which a new cluster has room.

    Raises
    ------
    ClusterError
        If the cluster cannot be joined or started.
    """
    if address is None:
        # Without "local" Ray would join any cluster that it finds. Ray counts cores, but does not reserve them: there
        # is one for each node, also if the machine has fewer.
        _init(ray, "local", num_cpus=max(nodes, os.cpu_count() or 1), include_dashboard=False)
    else:
        set_mode(probe(address))
        _init(ray, address)


def set_mode(mode: str | None) -> None:
    """Set whether this process sends and requires tokens.

    Ray turns tokens on when it starts a cluster, never off, and remembers both. A driver must be in the mode of its
    cluster: if only the driver requires tokens, the cluster takes it for dead.

    Parameters
    ----------
    mode : str, optional
        The value of RAY_AUTH_MODE. None: unset it.
    """
    os.environ.pop(MODE, None)
    os.environ.update({MODE: mode} if mode else {})
    read_authentication_mode_again()


def _init(ray: Ray, address: str, **options: object) -> None:
    try:
        with _undisturbed(), on_loopback_and_quiet(), patient_with_the_head():
            ray.init(address, logging_level=logging.ERROR, log_to_driver=False, **options)
    except Exception as error:
        raise ClusterError(
            f"Ray could not be started or joined ({address})",
            why=str(error).strip().partition("\n")[0],
            remedy="look into /tmp/ray/session_latest/logs, or use engine 'processes'",
        ) from error


@contextmanager
def _undisturbed() -> Generator[None]:
    """Hide Ray's warnings about its own future, and restore the handler of SIGTERM, which Ray replaces."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if callable(before) and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)
