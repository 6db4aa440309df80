"""Finding out whether a Ray cluster can be joined, and why not."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from paraactive.errors import ClusterError

MODE = "RAY_AUTH_MODE"
"""Environment variable of Ray: whether tokens are sent and required."""
_SECONDS_TO_JOIN = 12.0
_SCRIPT = """
import logging, socket, sys, traceback
address, host, port = sys.argv[1:]
try:
    if host:
        socket.create_connection((host, int(port)), 3).close()
    import ray
    ray.init(address=address, logging_level=logging.ERROR, log_to_driver=False)
except BaseException:
    print(traceback.format_exc())
    sys.exit(1)
"""
_SETTINGS = {
    "RAY_gcs_rpc_server_connect_timeout_s": "1",
    "RAY_py_gcs_connect_timeout_s": "3",
    "RAY_gcs_server_port_wait_time_s": "1",
    "RAY_gcs_server_request_timeout_seconds": "4",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}
"""Timeouts in seconds, because Ray's defaults add up to many minutes; and the setting of `ray_private` for loopback."""
_START = (
    "start one with 'ray start --head' and give the address that it prints, or give none to have one on this machine"
)
_REASONS = {
    "AuthenticationError": (
        "it requires a token, and none or another one was sent",
        "set RAY_AUTH_MODE=token, with the cluster's token in ~/.ray/auth_token",
    ),
    "No node info found": (
        "this machine is not part of it",
        "run on a machine of the cluster, or make this one part of it with 'ray start --address=HOST:PORT'",
    ),
    "Version mismatch": ("it has another version of Ray or Python", "install the same versions on every machine"),
    "gaierror": ("its host is not known", "check the spelling of the host name"),
    "Connection refused": ("no program listens there", _START),
    "timed out": ("no program answers there", _START),
    "GCS": ("a program listens there, but it does not answer as Ray does", _START),
    "Could not find any running Ray": ("none is running", _START),
}
"""By a part of what Ray or the system reports: the reason and the remedy in our words. The first that fits is taken."""


def probe(address: str) -> str:
    """Find out whether a cluster can be joined, within some seconds.

    A token of the user is sent to a cluster of this machine. To a given address it is sent only if the user asks for
    that by RAY_AUTH_MODE.

    Parameters
    ----------
    address : str
        HOST:PORT, or "auto" for a cluster of this machine.

    Returns
    -------
    str
        The value of RAY_AUTH_MODE with which the cluster can be joined.

    Raises
    ------
    ClusterError
        If the address is not valid, or the cluster cannot be joined.
    """
    host, port = _host_and_port(address)
    end = time.monotonic() + _SECONDS_TO_JOIN
    unasked = ["disabled", "token"] if address == "auto" else ["disabled"]
    reported = ""
    for mode in [os.environ[MODE]] if MODE in os.environ else unasked:
        reported = _try(address, host, port, mode, end - time.monotonic())
        if not reported:
            return mode
        if "AuthenticationError" not in reported:
            break
    raise _not_joined(address, reported)


def _host_and_port(address: str) -> tuple[str, str]:
    """Return host and port. Both are empty for "auto"."""
    if address == "auto":
        return "", ""
    if "://" in address:
        raise ClusterError(
            f"'{address}' is not an address that engine 'ray' can join",
            why="the driver takes part in the cluster, and is not a client of it",
            remedy="run on a machine of the cluster, and give HOST:PORT as 'ray start' prints it, or 'auto'",
        )
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise ClusterError(
            f"'{address}' is not the address of a Ray cluster",
            why="it is not HOST:PORT with a port between 1 and 65535",
            remedy="give it as 'ray start' prints it, like 10.0.0.1:6379, or 'auto' on a machine of the cluster",
        )
    return host, port


def _try(address: str, host: str, port: str, mode: str, seconds: float) -> str:
    """Try to join in another process, because Ray retries for minutes, prints, and may end its process.

    Returns what was reported, or nothing if the cluster was joined.
    """
    try:
        tried = subprocess.run(
            [sys.executable, "-c", _SCRIPT, address, host, port],
            env={**os.environ, **_SETTINGS, MODE: mode},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=max(0.0, seconds),
        )
    except subprocess.TimeoutExpired:
        return f"it did not answer for {_SECONDS_TO_JOIN:.0f} s"
    return tried.stdout or "it reports no reason" if tried.returncode else ""


def _not_joined(address: str, reported: str) -> ClusterError:
    known = [reason for part, reason in _REASONS.items() if part in reported]
    why, remedy = known[0] if known else (reported.strip().rpartition("\n")[2], _START)
    where = "on this machine (auto)" if address == "auto" else f"at {address}"
    return ClusterError(f"no Ray cluster could be joined {where}", why=why, remedy=remedy)
