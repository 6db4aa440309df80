"""The page of a run, live: served on this machine alone, read anew whenever somebody looks, never written to."""

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
from typing import Any, cast

from paraactive.errors import InputError, ParaActiveError
from paraactive.report.of_runs import page_of
from paraactive.report.page import to_html, to_json
from paraactive.report.sections import Page
from paraactive.report.story import read_stories
from paraactive.runs.runfile.errors import reraise_as_corruption

LOOPBACK = "127.0.0.1"
_FRESH_SECONDS = 0.5
"""What was read so shortly before is shown again: several windows cost no more than one."""
MOST_CLIENTS = 32
"""Clients that are answered at the same time, each by its own thread. Any more are refused at once."""
_PATIENCE_SECONDS = 10.0
"""The time that a client has to send its whole request, and again to read the whole answer."""
_BUSY = b"HTTP/1.0 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class LivePage:
    """The page as the run files stand now."""

    def __init__(self, paths: Sequence[Path], shape: tuple[int, int] | None) -> None:
        self._paths, self._shape = paths, shape
        self._lock, self._read_at = threading.Lock(), float("-inf")
        self._page = self._read(thorough=True)

    def now(self) -> Page:
        """Read anew, unless that was just done."""
        with self._lock:
            if time.monotonic() - self._read_at > _FRESH_SECONDS:
                self._page = self._read(thorough=False)
            return self._page

    def _read(self, *, thorough: bool) -> Page:
        stories = read_stories(self._paths, shape=self._shape, thorough=thorough)
        with reraise_as_corruption(self._paths[0]):
            page = page_of(stories, live=True)
        self._read_at = time.monotonic()
        return page


class Server(ThreadingHTTPServer):
    """Answers to browsers on this machine; to others it cannot be reached."""

    daemon_threads = True
    request_queue_size = MOST_CLIENTS

    def __init__(
        self, paths: Sequence[str | Path], port: int = 0, shape: tuple[int, int] | None = None,
        *, patience: float = _PATIENCE_SECONDS,
    ) -> None:  # fmt: skip
        self.live, self.patience = LivePage([Path(path) for path in paths], shape), patience
        self._lock, self._until = threading.Lock(), dict[Any, float]()
        """Of each client that is being served: when its request must have come."""
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"cannot listen on port {port}",
                why=str(error).lower(),
                remedy="give another --port, or 0 for one that is free",
            ) from error

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own, if there are not too many already."""
        with self._lock:
            full = len(self._until) >= MOST_CLIENTS
            if not full:
                self._until[request] = time.monotonic() + self.patience
        if full:
            _refuse(request)
            self.shutdown_request(request)
        else:
            request.settimeout(self.patience)  # For each read, and for writing the whole answer.
            super().process_request(request, client_address)

    def has_asked(self, request: Any) -> None:
        """The request of a client has come. Making the answer may take longer than it may take to ask."""
        with self._lock:
            self._until[request] = float("inf")

    def service_actions(self) -> None:
        """Called again and again: hang up on clients that are silent, or send a byte now and then."""
        now = time.monotonic()
        with self._lock:
            late = [request for request, until in self._until.items() if until < now]
        for request in late:
            with suppress(OSError):  # It may have left meanwhile.
                request.shutdown(socket.SHUT_RDWR)

    def shutdown_request(self, request: Any) -> None:
        """The end of each client, whether it was answered or not."""
        with self._lock:
            self._until.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that leaves or stops reading while it is being answered is nobody's error."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """Where to look."""
        return f"http://{LOOPBACK}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    def parse_request(self) -> bool:
        """Read the request; http.server bounds the length and the number of its headers."""
        parsed = super().parse_request()
        cast(Server, self.server).has_asked(self.request)
        return parsed

    def do_GET(self) -> None:
        """The page, or its data alone."""
        if not _is_ours(self.headers.get_all("Host", []), cast(Server, self.server).server_port):
            # A page of another site that was made to point here must not read what is shown here.
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"This page is for this machine alone.\n")
            return
        makers: dict[str, tuple[str, Callable[[Page], str]]] = {
            "/": ("text/html; charset=utf-8", to_html),
            "/page.json": ("application/json", lambda page: to_json(page.data())),
        }
        kind, make = makers.get(self.path.partition("?")[0], ("", to_html))
        if not kind:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"There is only one page here: /\n")
            return
        try:
            body = make(cast(Server, self.server).live.now()).encode()
        except ParaActiveError as error:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain; charset=utf-8", f"{error}\n".encode())
            return
        except Exception as error:  # Whoever looks is told, and goes on looking.
            said = f"{type(error).__name__}: {error}\n"
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, "text/plain; charset=utf-8", said.encode())
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
        """Nothing: a page asks once a second."""


def _is_ours(hosts: Sequence[str], port: int) -> bool:
    """True if the one Host header names this machine, and no port but ours.

    >>> _is_ours(["localhost:8000"], 8000), _is_ours(["evil@127.0.0.1"], 8000), _is_ours(["127.0.0.1:80"], 8000)
    (True, False, False)
    """
    if len(hosts) != 1:
        return False
    host = hosts[0].strip(" \t").lower()
    return host in {f"{name}{ending}" for name in (LOOPBACK, "localhost") for ending in ("", f":{port}")}


def _refuse(request: socket.socket) -> None:
    """Say that there are too many clients; without waiting for one that does not read."""
    with suppress(OSError):
        request.setblocking(False)
        request.send(_BUSY)
