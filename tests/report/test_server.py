"""The live page: on this machine alone, read-only, and as new as the run."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from disk import wait_until
from paraactive.errors import InputError
from paraactive.report.server import LOOPBACK, MAX_CLIENTS, Server
from paraactive.runs.run import Run
from report.conftest import Recorded
from report.runs import digits_run


@contextmanager
def served(*paths: Path, client_seconds: float = 60.0) -> Generator[Server]:
    with Server(paths, client_seconds=client_seconds) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def get(server: Server, path: str = "/", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection(LOOPBACK, server.server_port, timeout=30)
    try:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def connect(server: Server) -> socket.socket:
    """A client that has not said anything yet."""
    return socket.create_connection((LOOPBACK, server.server_port), timeout=60)


def say(server: Server, request: str) -> str:
    """The first line of the answer to a request that no browser would send."""
    with connect(server) as client:
        client.sendall(request.encode())
        with client.makefile("rb") as answer:
            return answer.readline().decode()


def has_hung_up(client: socket.socket) -> bool:
    """True if the server has; this waits until it has, or has sent something."""
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


def test_it_listens_on_loopback_only(digits: Recorded) -> None:
    with served(digits.path) as server:
        assert server.server_address[0] == "127.0.0.1"
        assert server.address == f"http://127.0.0.1:{server.server_port}/"


def test_the_page_is_live_and_its_data_are_beside_it(digits: Recorded) -> None:
    with served(digits.path) as server:
        status, page = get(server)
        assert status == 200
        assert '"live": true' in page
        status, data = get(server, "/page.json?1")
        assert status == 200
        found = json.loads(data)
        assert found["status"] == "5,000 of 5,000 examples seen, done"
        assert {section["id"] for section in found["sections"]} >= {"summary", "error-time", "rate", "timeline-0"}


def test_other_paths_are_not_there(digits: Recorded) -> None:
    with served(digits.path) as server:
        for path in ("/../../etc/passwd", "/digits.db", "/page.jsonx"):
            assert get(server, path)[0] == 404


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:80", "evil.example", "127.0.0.1.evil.example:1", "", "[::1", "evil@127.0.0.1", "127.0.0.1@evil",
        "user:word@localhost", "127.0.0.1:1", "localhost:", "localhost:0x50", "127.0.0.1/", "127.1", "[::1]",
    ],
)  # fmt: skip
def test_a_site_that_points_its_name_here_is_refused(digits: Recorded, host: str) -> None:
    with served(digits.path) as server:
        status, said = get(server, Host=host)
        assert status == 403
        assert "digits" not in said


def test_the_names_of_this_machine_are_answered_with_our_port_or_without(digits: Recorded) -> None:
    with served(digits.path) as server:
        for host in ("localhost", "127.0.0.1", f"localhost:{server.server_port}", f"127.0.0.1:{server.server_port}"):
            assert get(server, Host=host)[0] == 200


def test_a_request_with_two_hosts_or_none_is_refused(digits: Recorded) -> None:
    with served(digits.path) as server:
        for hosts in ("Host: localhost\r\nHost: localhost\r\n", "Host: localhost\r\nHost: evil.example\r\n", ""):
            assert " 403 " in say(server, f"GET / HTTP/1.0\r\n{hosts}\r\n")


def test_a_request_with_endless_headers_is_refused(digits: Recorded) -> None:
    with served(digits.path) as server:
        many = "".join(f"X-{number}: x\r\n" for number in range(200))
        assert " 431 " in say(server, f"GET / HTTP/1.0\r\nHost: localhost\r\n{many}\r\n")
        assert " 431 " in say(server, f"GET / HTTP/1.0\r\nHost: localhost\r\nX: {'x' * 70_000}\r\n\r\n")


def test_many_silent_clients_have_few_threads_and_are_dropped_and_then_a_browser_is_answered(digits: Recorded) -> None:
    with served(digits.path, client_seconds=0.5) as server, ExitStack() as stack:
        before = threading.active_count()
        silent: list[socket.socket] = []
        for _ in range(150):
            silent.append(stack.enter_context(connect(server)))
            assert threading.active_count() <= before + MAX_CLIENTS
        for client in silent:
            while not has_hung_up(client):
                pass
        wait_until(lambda: threading.active_count() == before)
        assert get(server)[0] == 200


def test_more_clients_than_there_is_room_for_are_refused_at_once_and_the_others_are_answered(digits: Recorded) -> None:
    with served(digits.path) as server, ExitStack() as stack:
        silent = [stack.enter_context(connect(server)) for _ in range(MAX_CLIENTS)]
        with connect(server) as one_more:
            assert one_more.recv(100).startswith(b"HTTP/1.0 503 ")
        silent[0].sendall(b"GET / HTTP/1.0\r\nHost: localhost\r\n\r\n")
        assert silent[0].recv(100).startswith(b"HTTP/1.0 200 ")


def test_a_client_that_sends_a_letter_now_and_then_is_dropped(digits: Recorded) -> None:
    with served(digits.path, client_seconds=0.5) as server, connect(server) as client:

        def is_gone() -> bool:
            try:
                client.sendall(b"G")
            except ConnectionError:
                return True
            return False

        wait_until(is_gone)
        assert get(server)[0] == 200


def test_while_a_run_goes_on_the_page_grows_and_the_run_does_not_notice(tmp_path: Path, digits: Recorded) -> None:
    path, looks = tmp_path / "live.db", list[int]()

    def look(run: Run) -> bool:
        """After every round, in the middle of the run: so it is always another state of the file."""
        with served(path) as server:
            status, data = get(server, "/page.json")
        assert status == 200
        summary: Any = json.loads(data)["sections"][0]
        looks.append(dict(row[:2] for row in summary["rows"])["examples seen"])
        return False

    run = digits_run(path, stop=look)
    assert len(looks) == len(run.rounds)
    assert looks == sorted(looks)
    assert looks[-1] > looks[0], "what was committed is seen while the run goes on"
    assert run.learner.digest() == digits.run.learner.digest()


def test_a_run_file_that_vanishes_is_an_answer_and_not_the_end(tmp_path: Path, digits: Recorded) -> None:
    path = tmp_path / "gone.db"
    path.write_bytes(digits.path.read_bytes())
    with served(path) as server:
        path.unlink()
        server.live._read_at = float("-inf")
        status, said = get(server, "/page.json")
        assert status == 503
        assert "no run file" in said
        assert get(server, "/nothing")[0] == 404


def test_a_port_that_is_taken_is_one_clear_error(digits: Recorded) -> None:
    with served(digits.path) as server, pytest.raises(InputError, match="cannot listen on port"):
        Server([digits.path], server.server_port)
    with pytest.raises(InputError, match="cannot listen on port 99999"):
        Server([digits.path], 99999)
