"""The head of a Ray cluster, as the driver sees it: whether it answers, and how to leave a cluster whose head does not.

Ray by itself ends the process of a driver that cannot reach the head for a minute, and a head that hangs makes
`ray.shutdown` wait for ever. A run that ends in either way would not say how to go on.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from paraactive.errors import ClusterLostError, NodeWarning

_SECONDS_BETWEEN_PINGS = 1.0
_SECONDS_OF_A_PING = 2.0
_SECONDS_TO_WARN = 5.0
_SECONDS_TO_LOSE = 40.0
"""Shorter than Ray's minute, after which its own processes end."""
_SECONDS_TO_SHUT_DOWN = 15.0
"""Ray takes 5 s if the head is dead."""
_RECONNECT = "RAY_gcs_rpc_server_reconnect_timeout_s"
_TIMEOUT = "PARAACTIVE_RAY_HEAD_SECONDS"
"""A variable of the environment: seconds without the head after which a run ends, instead of 40."""


class HeadWatch:
    """Asks the head for a sign of life again and again, on a thread of its own."""

    def __init__(self, ray: Any) -> None:
        self._failure, self._client = ray.exceptions.RpcError, ray._private.worker.global_worker.gcs_client
        self._limit = float(os.environ.get(_TIMEOUT, _SECONDS_TO_LOSE))
        self._ended, self._warned = threading.Event(), False
        self.silent = 0.0
        """Seconds of asking in vain. Not the time since the last answer: the driver itself may have been stopped."""
        self._thread = threading.Thread(target=self._watch, daemon=True, name="head of the Ray cluster")
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(_SECONDS_BETWEEN_PINGS):
            start = time.perf_counter()
            try:
                self._client.internal_kv_get(b"paraactive", None, timeout=_SECONDS_OF_A_PING)
                self.silent = 0.0
            except self._failure:
                self.silent += _SECONDS_BETWEEN_PINGS + min(_SECONDS_OF_A_PING, time.perf_counter() - start)

    @property
    def answers(self) -> bool:
        """True if the last question was answered."""
        return self.silent == 0.0

    def check(self) -> None:
        """Warn once if the head does not answer for some seconds; an error if it does not for long."""
        if self.silent > self._limit:
            raise ClusterLostError(
                "the head of the Ray cluster is lost",
                why=f"it has not answered for {self._limit:.0f} s",
                remedy="resume the run file when the cluster is back, or resume it with engine 'processes'",
            )
        if self.silent > _SECONDS_TO_WARN and not self._warned:
            said = f"the head of the Ray cluster has not answered for {self.silent:.0f} s"
            warnings.warn(f"{said}; the run ends if it does not within {self._limit:.0f} s", NodeWarning, stacklevel=2)
        self._warned = self.silent > _SECONDS_TO_WARN

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        self._thread.join()


@contextmanager
def patient_with_the_head() -> Generator[None]:
    """What connects to a cluster in it is not ended by Ray when the head is lost: `HeadWatch` is to say so."""
    given = os.environ.get(_RECONNECT)
    os.environ[_RECONNECT] = given or "86400"
    try:
        yield
    finally:
        if given is None:
            del os.environ[_RECONNECT]


# Leaving -------------------------------------------------------------------------------------------------------------

_abandoned = False


def shut_down(ray: Any) -> None:
    """`ray.shutdown`, for some seconds at most and without its errors. A run that has ended is not to be lost by it."""
    global _abandoned

    def attempt() -> None:
        with suppress(Exception):
            ray.shutdown()

    thread = threading.Thread(target=attempt, daemon=True, name="shutdown of Ray")
    thread.start()
    thread.join(_SECONDS_TO_SHUT_DOWN)
    if thread.is_alive() and not _abandoned:
        _abandoned = True
        atexit.unregister(ray._private.worker.shutdown)  # It would wait for ever, too.
        atexit.register(_end_process)


def end_process_if_abandoned(code: int) -> None:
    """End this process now if Ray's shutdown hangs: Python's own end would crash in it."""
    if _abandoned:
        atexit.unregister(_end_process)
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end_process() -> None:
    """At the end of a program that does not end by itself as our command line does. Its exit code is not known here."""
    end_process_if_abandoned(1 if hasattr(sys, "last_value") else 0)
