from __future__ import annotations

import json
import socket
import threading
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from raw_http import exchange, read_answer, request
from running_command import running_command
from service_process import Installation, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OPEN_FILES = 256
READY = request("GET", "/ready")


def test_more_connections_than_files_from_one_address_stop_nobody_else(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.make_tables()
    limited = ("prlimit", f"--nofile={OPEN_FILES}:{OPEN_FILES}")
    with running_command(installation, "serve", within=limited) as serving, ExitStack() as held:
        wait_until(lambda: exchange(serving.address, READY).status == 200)
        for _ in range(OPEN_FILES + 50):
            held.enter_context(socket.create_connection(serving.address))
        elsewhere = socket.create_connection(serving.address, timeout=10, source_address=("127.0.0.2", 0))
        with elsewhere as connection:
            connection.sendall(READY)
            assert read_answer(connection).status == 200
        assert not [line for line in serving.lines if "Error" in line]


@pytest.mark.embedded("on PostgreSQL, processes of their own make the checks")
def test_more_connections_than_files_do_not_stop_the_checks(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.make_tables()
    installation.run("teams", "create", "Alice's team")
    key = json.loads(installation.run("keys", "create", "Alice's team", "--json"))
    limited = ("prlimit", f"--nofile={OPEN_FILES}:{OPEN_FILES}")
    with (
        running_page() as page,
        running_command(
            installation,
            "serve",
            within=limited,
            CHECKS_AT_ONCE="5",
            ALLOWED_NETWORKS="127.0.0.1/32",
            REFERENCE_URLS=page,
            RATE_LIMIT_API="1000000/60",  # the test asks until there is a check
        ) as serving,
        httpx.Client(
            base_url=serving.base_url, transport=httpx.HTTPTransport(local_address="127.0.0.2"), timeout=30
        ) as alice,
        ExitStack() as held,
    ):
        credentials = {"client_id": key["client_id"], "client_secret": key["client_secret"]}
        token = alice.post("/api/oauth/token", data=credentials).json()["access_token"]
        alice.headers["Authorization"] = f"Bearer {token}"
        monitor = create_paused_monitor(alice, page)
        for _ in range(OPEN_FILES + 50):
            held.enter_context(socket.create_connection(serving.address))
        alice.patch(monitor, json={"paused": False}).raise_for_status()
        wait_until(lambda: alice.get(f"{monitor}/checks").raise_for_status().json()["checks"])
        assert alice.get(monitor).json()["status"] == "up"


def test_a_process_takes_as_many_files_as_it_may_have(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.make_tables()
    limited = ("prlimit", "--nofile=128:1024")
    with running_command(installation, "serve", within=limited) as serving:
        wait_until(lambda: exchange(serving.address, READY).status == 200)
        assert serving.open_files == 1024


def create_paused_monitor(alice: httpx.Client, url: str) -> str:
    """Create a monitor that is checked as soon as it goes on. Returns its path."""
    created = alice.post("/api/monitors", json={"url": url, "paused": True}).raise_for_status()
    return created.headers["Location"]


class Page(BaseHTTPRequestHandler):
    """A page that is always up."""

    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


@contextmanager
def running_page() -> Iterator[str]:
    """Serve the page until the context ends, and yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
