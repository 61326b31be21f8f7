"""A team's web site, its monitors and its webhook. The site knows what the checkers should have found."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from typing import TYPE_CHECKING, Any

from telling_verdict import Arrival
from watching_verdict import Page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from threading import Event

    from replicas import Replicas

# Shares of the messages, each added to the one before.
REFUSED, HUNG_UP = 0.1, 0.15

STEADY_PAGES = 12
UNSTEADY_PAGES = 6
PHASE_SECONDS = (35.0, 60.0)

INTERVAL_SECONDS = 30
TIMEOUT_SECONDS = 5
RECOVERY_SECONDS = 150.0


class Site(ThreadingHTTPServer):
    """Serves pages, some of which break for a while, and receives notifications."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        names = [f"steady-{number}" for number in range(STEADY_PAGES)]
        names += [f"unsteady-{number}" for number in range(UNSTEADY_PAGES)]
        self.pages = {f"/{name}": Page(f"/{name}") for name in names}
        self.arrivals: list[Arrival] = []
        self.is_moody = False
        self.chance = Random(1)


class _Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        page = self.server.pages.get(self.path)
        if page is None:  # the reference that tells a checker whether it is online
            self._answer(200)
            return
        self._answer(503 if page.ask() else 200)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fate = self.server.chance.random() if self.server.is_moody else 1.0
        route, was_taken = f"webhook {self.path[1:]}", fate >= HUNG_UP
        self.server.arrivals.append(Arrival(route, self.headers["webhook-id"], time.time(), was_taken, body))
        if fate >= HUNG_UP:
            self._answer(204)
        elif fate < REFUSED:
            self._answer(503)
        else:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()


@contextmanager
def running_site() -> Iterator[Site]:
    """Serve the site until the context ends."""
    with Site() as site:
        threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield site
        site.shutdown()


class Watcher:
    """Has every page of a site monitored, breaks pages, and waits until the service knows they are well."""

    def __init__(self, replicas: Replicas, site: Site, headers: dict[str, str]) -> None:
        self._replicas = replicas
        self._site = site
        self._headers = headers

    def begin(self) -> None:
        """Create a monitor for each page."""
        for path, page in self._site.pages.items():
            monitor = self._create(
                "create_monitor",
                {
                    "url": self._site.url + path,
                    "interval_seconds": INTERVAL_SECONDS,
                    "timeout_seconds": TIMEOUT_SECONDS,
                },
            )
            page.monitor_id = monitor["id"]
            page.created_at = time.time()

    def vary(self, over: Event, chance: Random) -> None:
        """Break the unsteady pages and mend them, until the run is over. Then all pages are well."""
        unsteady = [page for path, page in self._site.pages.items() if path.startswith("/unsteady")]
        turns = {page.path: time.time() + chance.uniform(0, PHASE_SECONDS[0]) for page in unsteady}
        while not over.wait(0.2):
            for page in unsteady:
                if time.time() >= turns[page.path]:
                    page.turn()
                    turns[page.path] = time.time() + chance.uniform(*PHASE_SECONDS)
        for page in unsteady:
            if page.is_down:
                page.turn()

    def wait_until_well(self) -> None:
        """Wait until every monitor is up again and was checked since the last fault."""
        healed, deadline = time.time(), time.monotonic() + RECOVERY_SECONDS
        waiting = list(self._site.pages.values())
        while waiting and time.monotonic() < deadline:
            time.sleep(0.5)
            waiting = [page for page in waiting if page.last_asked_at < healed or not self._is_up(page)]
        for page in waiting:
            self._replicas.journal.record_violation(
                f"{page.path}: is not known to be up {RECOVERY_SECONDS:.0f} s after everything was well"
            )
        self._replicas.journal.took("after the last fault, every monitor up", time.time() - healed)

    def _is_up(self, page: Page) -> bool:
        ids = {"monitor_id": page.monitor_id}
        answer = self._replicas.insist("get_monitor", "200", ids=ids, headers=self._headers)
        return bool(answer.json()["status"] == "up")

    def _create(self, operation_id: str, body: dict[str, Any]) -> Any:
        headers = self._headers | {"Idempotency-Key": body["url"]}
        return self._replicas.insist(operation_id, "201", headers=headers, json=body).json()
