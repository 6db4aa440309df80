"""The head of a Ray cluster: whether it answers, and how to leave a cluster whose head does not.

Ray ends the process of a driver that cannot reach the head for a minute, and `ray.shutdown` waits forever for a head
that hangs. In both cases the user would not be told how to resume the run.
"""

from __future__ import annotations

import atexit
import os
import socket
import sys
import threading
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress

from paraactive.engines.remote.ray_api import Ray
from paraactive.errors import ClusterLostError, NodeWarning

_SECONDS_BETWEEN_PINGS = 1.0
_SECONDS_OF_A_PING = 2.0
_SECONDS_TO_WARN = 5.0
_SECONDS_TO_LOSE = 40.0
"""Less than the minute after which Ray's own processes end."""
_SECONDS_TO_SHUT_DOWN = 15.0
"""Ray takes 5 s if the head is dead."""
_RECONNECT = "RAY_gcs_rpc_server_reconnect_timeout_s"
_TIMEOUT = "PARAACTIVE_RAY_HEAD_SECONDS"
"""Environment variable: seconds without an answer of the head after which a run ends. Default: 40."""
_HTTP2_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
"""The beginning of every HTTP/2 connection: the preface, and a frame with no settings. The server answers at once."""


class HeadWatch:
    """Asks the head once a second whether it answers, in its own thread.

    The head is a gRPC server, so it answers the greeting of an HTTP/2 connection, or closes the connection if it
    expects TLS. A head that is dead or hangs does neither.

    Parameters
    ----------
    address : str
        HOST:PORT of the head.

    Attributes
    ----------
    silent : float
        Seconds that the head did not answer. It is not the time since the last answer, because the driver itself may
        have been suspended.
    """

    def __init__(self, address: str) -> None:
        host, _, port = address.rpartition(":")
        self._address = host.removeprefix("[").removesuffix("]"), int(port)
        self._limit = float(os.environ.get(_TIMEOUT, _SECONDS_TO_LOSE))
        self._ended, self._warned = threading.Event(), False
        self.silent = 0.0
        self._thread = threading.Thread(target=self._watch, daemon=True, name="head of the Ray cluster")
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(_SECONDS_BETWEEN_PINGS):
            start = time.perf_counter()
            try:
                self._ping()
                self.silent = 0.0
            except OSError:
                self.silent += _SECONDS_BETWEEN_PINGS + min(_SECONDS_OF_A_PING, time.perf_counter() - start)

    def _ping(self) -> None:
        with socket.create_connection(self._address, _SECONDS_OF_A_PING) as connection:
            connection.sendall(_HTTP2_GREETING)
            connection.recv(9)

    @property
    def answers(self) -> bool:
        """True if the head has answered the last time."""
        return self.silent == 0.0

    def check(self) -> None:
        """Warn once if the head does not answer for some seconds.

        Raises
        ------
        ClusterLostError
            If the head does not answer for a long time.
        """
        if self.silent > self._limit:
            raise ClusterLostError(
                "the head of the Ray cluster is lost",
                why=f"it has not answered for {self._limit:.0f} s",
                remedy="resume the run file when the cluster is back, or resume it with engine 'processes'",
            )
        if self.silent > _SECONDS_TO_WARN and not self._warned:
            text = f"the head of the Ray cluster has not answered for {self.silent:.0f} s"
            warnings.warn(
                f"{text}; the run ends if it does not answer within {self._limit:.0f} s", NodeWarning, stacklevel=2
            )
        self._warned = self.silent > _SECONDS_TO_WARN

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        self._thread.join()


@contextmanager
def patient_with_the_head() -> Generator[None]:
    """Let a `ray.init` inside of it never end the process when the head is lost. `HeadWatch` reports it instead."""
    given = os.environ.get(_RECONNECT)
    os.environ[_RECONNECT] = given or "86400"
    try:
        yield
    finally:
        if given is None:
            del os.environ[_RECONNECT]


# Leaving -------------------------------------------------------------------------------------------------------------

_abandoned = False


def shut_down(ray: Ray) -> None:
    """Call `ray.shutdown`, for some seconds at most and without raising its errors.

    Parameters
    ----------
    ray : module
        The module ray.
    """
    global _abandoned

    def attempt() -> None:
        with suppress(Exception):
            ray.shutdown()

    thread = threading.Thread(target=attempt, daemon=True, name="shutdown of Ray")
    thread.start()
    thread.join(_SECONDS_TO_SHUT_DOWN)
    if thread.is_alive() and not _abandoned:
        _abandoned = True
        atexit.unregister(ray.shutdown)  # Ray has registered it, and it would wait forever too.
        atexit.register(_end_process)


def end_process_if_abandoned(code: int) -> None:
    """End this process now if `ray.shutdown` hangs, because the normal end of Python would crash in it.

    Parameters
    ----------
    code : int
        Exit code of the process.
    """
    if _abandoned:
        atexit.unregister(_end_process)
        atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _end_process() -> None:
    """End a program that does not call `end_process_if_abandoned`. Its exit code is not known here."""
    end_process_if_abandoned(1 if hasattr(sys, "last_value") else 0)
