"""The page of a run, live: served on this machine alone, read anew whenever somebody looks, never written to."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from paraactive.errors import InputError, ParaActiveError
from paraactive.report.of_runs import page_of
from paraactive.report.page import to_html, to_json
from paraactive.report.sections import Page
from paraactive.report.story import read_stories
from paraactive.runfile.connection import understood

LOOPBACK = "127.0.0.1"
_FRESH_SECONDS = 0.5
"""What was read so shortly before is shown again: several windows cost no more than one."""
_HOSTS = ("127.0.0.1", "localhost")


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
        with understood(self._paths[0]):
            page = page_of(stories, live=True)
        self._read_at = time.monotonic()
        return page


class Server(ThreadingHTTPServer):
    """Answers to browsers on this machine; to others it cannot be reached."""

    daemon_threads = True

    def __init__(self, paths: Sequence[str | Path], port: int = 0, shape: tuple[int, int] | None = None) -> None:
        self.live = LivePage([Path(path) for path in paths], shape)
        try:
            super().__init__((LOOPBACK, port), _Handler)
        except (OSError, OverflowError) as error:
            raise InputError(
                f"cannot listen on port {port}",
                why=str(error).lower(),
                remedy="give another --port, or 0 for one that is free",
            ) from error

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that leaves while it is being answered is nobody's error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        """Where to look."""
        return f"http://{LOOPBACK}:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """The page, or its data alone."""
        if _host_in(self.headers.get("Host", "")) not in _HOSTS:
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


def _host_in(header: str) -> str | None:
    try:
        return urlsplit(f"//{header}").hostname
    except ValueError:
        return None
