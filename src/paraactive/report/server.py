"""The live page of a run: an HTTP server that only this machine can reach.

The server reads the run files again when a browser asks, and never writes to them.
"""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TypeAlias, cast

from paraactive.errors import InputError, ParaActiveError
from paraactive.report.page import to_html, to_json
from paraactive.report.run_page import page_of
from paraactive.report.run_record import read_run_records
from paraactive.report.sections import Page
from paraactive.runs.runfile.errors import reraise_as_corruption

LOOPBACK = "127.0.0.1"
# A page that was read less than half a second ago is shown again, so several open windows cost no more than one.
_FRESH_SECONDS = 0.5
# Each client is answered by its own thread. Further clients are refused at once.
MAX_CLIENTS = 32
# Time in which a client must send its whole request, and again to read the whole answer.
_CLIENT_SECONDS = 10.0
_BUSY = b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

_Request: TypeAlias = "socket.socket | tuple[bytes, socket.socket]"


class LivePage:
    """The page of run files that are still growing.

    Parameters
    ----------
    paths : sequence of Path
        The run files.
    shape : (int, int) or None
        Height and width of the examples if they are images.
    """

    def __init__(self, paths: Sequence[Path], shape: tuple[int, int] | None) -> None:
        self._paths, self._shape = paths, shape
        self._lock, self._read_at = threading.Lock(), float("-inf")
        self._page = self._read(thorough=True)

    def now(self) -> Page:
        """Return the current page.

        Returns
        -------
        Page
            The page; it is read again if the last one is older than half a second.
        """
        with self._lock:
            if time.monotonic() - self._read_at > _FRESH_SECONDS:
                self._page = self._read(thorough=False)
            return self._page

    def _read(self, *, thorough: bool) -> Page:
        records = read_run_records(self._paths, shape=self._shape, thorough=thorough)
        with reraise_as_corruption(self._paths[0]):
            page = page_of(records, live=True)
        self._read_at = time.monotonic()
        return page


class Server(ThreadingHTTPServer):
    """An HTTP server of the live page, for browsers on this machine only.

    Parameters
    ----------
    paths : sequence of str or Path
        The run files.
    port : int, optional
        TCP port. Default: 0, which takes a free port.
    shape : (int, int), optional
        Height and width of the examples if they are images. Default: 28 by 28 for the bundled digits, else no images.
    client_seconds : float, optional
        Time in which a client must send its request, in seconds. Default: 10.

    Raises
    ------
    InputError
        If the port is not free.
    RunFileError
        If a run file is missing, damaged or not a run file.
    """

    daemon_threads = True
    request_queue_size = MAX_CLIENTS

    def __init__(
        self, paths: Sequence[str | Path], port: int = 0, shape: tuple[int, int] | None = None,
        *, client_seconds: float = _CLIENT_SECONDS,
    ) -> None:  # fmt: skip
        self.live = LivePage([Path(path) for path in paths], shape)
        self._client_seconds = client_seconds
        self._lock = threading.Lock()
        # For each client that is being served: the time at which its whole request must have arrived.
        self._deadlines = dict[_Request, float]()
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"cannot listen on port {port}",
                why=str(error).lower(),
                remedy="give another --port, or 0 for a free one",
            ) from error

    def process_request(self, request: _Request, client_address: object) -> None:
        """See `socketserver.BaseServer.process_request`.

        Answers in a new thread, or refuses the client if too many are being served.
        """
        with self._lock:
            full = len(self._deadlines) >= MAX_CLIENTS
            if not full:
                self._deadlines[request] = time.monotonic() + self._client_seconds
        connection = _connection(request)
        if full:
            _refuse(connection)
            self.shutdown_request(request)
        else:
            connection.settimeout(self._client_seconds)  # Applies to each read, and to writing the whole answer.
            super().process_request(request, client_address)

    def request_arrived(self, request: _Request) -> None:
        """Remove the deadline of a client, because making the answer may take longer than sending the request.

        Parameters
        ----------
        request : socket
            Connection of the client.
        """
        with self._lock:
            self._deadlines[request] = float("inf")

    def service_actions(self) -> None:
        """Close the connections of clients that are too slow. `serve_forever` calls this method repeatedly."""
        now = time.monotonic()
        with self._lock:
            late = [request for request, deadline in self._deadlines.items() if deadline < now]
        for request in late:
            with suppress(OSError):  # The client may have left meanwhile.
                _connection(request).shutdown(socket.SHUT_RDWR)

    def shutdown_request(self, request: _Request) -> None:
        """See `socketserver.BaseServer.shutdown_request`. Closes the connection, answered or not."""
        with self._lock:
            self._deadlines.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: _Request, client_address: object) -> None:
        """See `socketserver.BaseServer.handle_error`. Ignores a browser that left or stopped reading."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """URL of the page."""
        return f"http://{LOOPBACK}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    def parse_request(self) -> bool:
        """Read the request. The base class limits the length and the number of headers."""
        parsed = super().parse_request()
        cast(Server, self.server).request_arrived(self.request)
        return parsed

    def do_GET(self) -> None:
        """Answer with the page, or with its data as JSON."""
        if not _is_this_machine(self.headers.get_all("Host", []), cast(Server, self.server).server_port):
            # A foreign site could let its name point to this machine, to read the page from a visitor's browser.
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"This page is only for this machine.\n")
            return
        makers: dict[str, tuple[str, Callable[[Page], str]]] = {
            "/": ("text/html; charset=utf-8", to_html),
            "/page.json": ("application/json", lambda page: to_json(page.data())),
        }
        kind, make = makers.get(self.path.partition("?")[0], ("", to_html))
        if not kind:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"The only page is /\n")
            return
        try:
            body = make(cast(Server, self.server).live.now()).encode()
        except ParaActiveError as error:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain; charset=utf-8", f"{error}\n".encode())
            return
        except Exception as error:  # The reader sees the error, and the open page goes on asking.
            text = f"{type(error).__name__}: {error}\n"
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain; charset=utf-8", text.encode())
            return
        self._answer(HTTPStatus.OK, kind, body)

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing, because an open page asks once a second."""


def _connection(request: _Request) -> socket.socket:
    return request[1] if isinstance(request, tuple) else request


def _is_this_machine(hosts: Sequence[str], port: int) -> bool:
    """Return whether there is exactly one Host header, and it names this machine with our port or none.

    >>> machines = ["localhost:8000"], ["evil@127.0.0.1"], ["127.0.0.1:80"]
    >>> [_is_this_machine(hosts, 8000) for hosts in machines]
    [True, False, False]
    """
    if len(hosts) != 1:
        return False
    host = hosts[0].strip(" \t").lower()
    return host in {f"{name}{ending}" for name in (LOOPBACK, "localhost") for ending in ("", f":{port}")}


def _refuse(connection: socket.socket) -> None:
    """Answer that the server is busy, without waiting for a client that does not read."""
    with suppress(OSError):
        connection.setblocking(False)
        connection.send(_BUSY)
