"""Servers stop, freeze, fill up or refuse under a running service, which recovers without a restart."""

from __future__ import annotations

import logging
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
import pytest
import redis
from asyncpg import DeadlockDetectedError  # type: ignore[import-untyped]

from app.visitor import Visitor, read_text
from backends.sessions import Session
from cast import Player, form_team
from frozen_servers import frozen
from monitoring.backends.current import current_backends
from real_servers import PostgresServer, RedisServer, find_free_port
from running_service import WEBHOOK_SECRET, RunningService, running_service
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

pytestmark = pytest.mark.production("what is in the process itself cannot go away")

MONITORS = "/api/monitors"
MONITOR = {"url": "https://shop.example.com/"}
WEBHOOK = "/api/webhooks/publisher"
ARTICLE = {"article": {"id": "art_1", "title": "Running shoes"}}

# If so many waited for one another, it would take longer than the players' timeout.
PLAYERS_AT_ONCE = 30
CONNECTIONS = 5
DATABASE_TIMEOUT_SECONDS = 2.0  # a busy machine takes more than half a second to connect
PATIENCE_SECONDS = 10


@pytest.fixture(scope="module")
def service(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with service_on(server, tmp_path_factory.mktemp("outages")) as running:
        yield running


@pytest.fixture
def publisher(service: RunningService) -> Iterator[httpx.Client]:
    with publishing_at(service) as client:
        yield client


@pytest.fixture
def session(service: RunningService) -> Iterator[Session]:
    """Open another client of the service's database."""
    with Session(service.settings.database_url.get_secret_value()) as opened:
        yield opened


def service_on(server: PostgresServer, folder: Path) -> AbstractContextManager[RunningService]:
    return running_service(
        folder,
        database_url=server.create_database(),
        database_timeout_seconds=DATABASE_TIMEOUT_SECONDS,
        database_pool_max_connections=CONNECTIONS,
    )


def publishing_at(service: RunningService) -> httpx.Client:
    secret = {"X-Webhook-Secret": WEBHOOK_SECRET}
    return httpx.Client(base_url=service.base_url, headers=secret, timeout=30)


def is_unavailable(answer: httpx.Response, service: RunningService) -> bool:
    """Say whether an answer is the document's 503."""
    expected = service.app.contract.catalogue.respond("service_unavailable")
    assert "Retry-After" in expected.headers
    told = (answer.status_code, answer.json(), answer.headers.get("Retry-After"))
    return told == (expected.status, expected.body, expected.headers["Retry-After"])


def is_success(send: Callable[[], httpx.Response]) -> bool:
    return send().is_success


def at_once(act: Callable[[], httpx.Response]) -> list[httpx.Response]:
    with ThreadPoolExecutor(PLAYERS_AT_ONCE) as pool:
        return list(pool.map(lambda _: act(), range(PLAYERS_AT_ONCE)))


class TestPostgresStopped:
    def test_everything_that_needs_it_answers_503_until_it_is_back(
        self, server: PostgresServer, service: RunningService, alice: Player, publisher: httpx.Client
    ) -> None:
        credentials = {"client_id": alice.client_id, "client_secret": alice.client_secret}
        monitor_path = alice.post(MONITORS, json=MONITOR).headers["Location"]
        article_path = publisher.post(WEBHOOK, json=ARTICLE).headers["Location"]
        requests: list[Callable[[], httpx.Response]] = [
            lambda: alice.get(MONITORS),
            lambda: alice.post(MONITORS, json=MONITOR),
            lambda: alice.post(MONITORS, json=MONITOR, headers={"Idempotency-Key": "outage"}),
            lambda: alice.get(monitor_path),
            lambda: alice.patch(monitor_path, json={"paused": True}),
            lambda: alice.delete(monitor_path),
            lambda: publisher.post(WEBHOOK, json=ARTICLE),
            lambda: publisher.get(article_path),
            lambda: httpx.post(f"{service.base_url}/api/oauth/token", data=credentials),
            lambda: publisher.get("/ready"),
        ]
        server.stop()
        try:
            assert [is_unavailable(send(), service) for send in requests] == [True] * len(requests)
            assert publisher.get("/health").status_code == 200
        finally:
            server.start()
        for send in requests:  # a busy machine may take longer to connect than it is given
            wait_until(partial(is_success, send))

    def test_the_app_says_so_on_a_page_and_its_people_stay_signed_in(
        self, server: PostgresServer, service: RunningService
    ) -> None:
        expected = service.app.contract.catalogue.respond("service_unavailable")
        with Visitor(service, form_team(service)) as visitor:
            server.stop()
            try:
                page = visitor.open("/monitors")
                assert (page.status_code, page.headers["Retry-After"]) == (
                    expected.status,
                    expected.headers["Retry-After"],
                )
                assert expected.body["error"] in read_text(page.text)
            finally:
                server.start()
            assert visitor.open("/monitors").url.path == "/app/monitors"


class TestPostgresFrozen:
    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_nobody_waits_for_those_before_and_no_connection_is_lost(
        self, server: PostgresServer, service: RunningService, alice: Player, method: str
    ) -> None:
        alice.timeout = httpx.Timeout(PATIENCE_SECONDS)
        send = {"GET": lambda: alice.get(MONITORS), "POST": lambda: alice.post(MONITORS, json=MONITOR)}[
            method
        ]
        at_once(send)  # opens all connections of the pool
        with frozen(server):
            for _ in range(2):
                assert all(is_unavailable(answer, service) for answer in at_once(send))
            assert is_unavailable(alice.get("/ready"), service)
        # The first may still wait for a server that is only starting again.
        assert any(all(answer.is_success for answer in at_once(send)) for _ in range(10))

    def test_before_the_first_connection_nobody_waits_for_those_before_either(
        self, server: PostgresServer, tmp_path: Path
    ) -> None:
        with service_on(server, tmp_path) as service:
            with frozen(server):
                ready = f"{service.base_url}/ready"
                answers = at_once(lambda: httpx.get(ready, timeout=PATIENCE_SECONDS))
                assert all(is_unavailable(answer, service) for answer in answers)
            wait_until(lambda: httpx.get(ready).status_code == 200)


class TestPostgresBusy:
    def test_a_row_that_another_session_keeps_locked_is_503_and_the_rest_goes_on(
        self, service: RunningService, alice: Player, session: Session
    ) -> None:
        monitor = alice.post(MONITORS, json=MONITOR).json()
        path = f"{MONITORS}/{monitor['id']}"
        with session.transaction():
            session.execute("SELECT 1 FROM monitors WHERE id = $1 FOR UPDATE", monitor["id"])
            answers = at_once(lambda: alice.patch(path, json={"paused": True}))
            assert all(is_unavailable(answer, service) for answer in answers)
            assert alice.get(path).json() == monitor
        assert alice.patch(path, json={"paused": True}).json()["paused"]

    def test_no_connection_to_be_had_is_503_until_there_is_one(
        self, server: PostgresServer, tmp_path: Path
    ) -> None:
        url = server.create_database()
        with Session(url) as session:
            url = session.give_to_role("service")
            with (
                running_service(tmp_path, database_url=url) as service,
                Player(service, form_team(service)) as alice,
            ):
                with session.no_connection_left("service"):
                    assert is_unavailable(alice.get(MONITORS), service)
                    assert is_unavailable(alice.get("/ready"), service)
                assert alice.get(MONITORS).status_code == 200

    def test_a_database_that_takes_no_writes_is_503_for_them_alone(
        self, service: RunningService, alice: Player, session: Session
    ) -> None:
        alice.get(MONITORS)  # notes the key's use, for an hour
        with session.writes_refused():
            wait_until(lambda: is_unavailable(alice.post(MONITORS, json=MONITOR), service))
            assert alice.get(MONITORS).status_code == 200
        wait_until(lambda: alice.post(MONITORS, json=MONITOR).status_code == 201)

    def test_a_delivery_that_loses_a_deadlock_is_taken_all_the_same(
        self, server: PostgresServer, tmp_path: Path
    ) -> None:
        changed = {"article": ARTICLE["article"] | {"title": "Walking shoes"}}
        with (
            running_service(tmp_path, database_url=server.create_database(), translator="none") as service,
            publishing_at(service) as publisher,
            Session(service.settings.database_url.get_secret_value()) as session,
            ThreadPoolExecutor(1) as pool,
        ):
            article_id = publisher.post(WEBHOOK, json=ARTICLE).json()["article_id"]
            with session.transaction(), suppress(DeadlockDetectedError):
                session.execute("SET LOCAL deadlock_timeout = '5s'")  # the service looks after one
                session.execute("SELECT 1 FROM translations WHERE article_id = $1 FOR UPDATE", article_id)
                delivering = pool.submit(publisher.post, WEBHOOK, json=changed)
                wait_until(session.is_somebody_waiting)
                session.execute("SELECT 1 FROM articles WHERE id = $1 FOR UPDATE", article_id)
            assert delivering.result().status_code == 202


class TestTimeZone:
    def test_the_databases_own_changes_nothing(self, server: PostgresServer, tmp_path: Path) -> None:
        url = server.create_database()
        with Session(url) as session:
            [database] = session.execute("SELECT current_database()")
            session.execute(f"ALTER DATABASE {database} SET timezone TO 'Asia/Tokyo'")
        with (
            running_service(tmp_path, database_url=url) as service,
            Player(service, form_team(service)) as alice,
            Session(url) as session,
        ):
            before, monitor, after = (
                datetime.now(UTC),
                alice.post(MONITORS, json=MONITOR).json(),
                datetime.now(UTC),
            )
            assert before <= datetime.fromisoformat(monitor["created_at"]) <= after
            assert session.execute("SHOW timezone") == ["Asia/Tokyo"]
            assert session.execute("SELECT created_at FROM monitors") == [
                datetime.fromisoformat(monitor["created_at"])
            ]
            assert service.run(show_timezone()) == "UTC"


async def show_timezone() -> str:
    _, [row] = await current_backends().database.context.db().execute_query("SHOW timezone")
    return str(row["TimeZone"])


@contextmanager
def stopped(server: RedisServer) -> Iterator[None]:
    server.stop()
    try:
        yield
    finally:
        server.start()


@contextmanager
def out_of_memory(server: RedisServer) -> Iterator[None]:
    with redis.Redis.from_url(server.url) as operator:
        operator.config_set("maxmemory", 1)
        yield
        operator.config_set("maxmemory", 0)


@contextmanager
def read_only(server: RedisServer) -> Iterator[None]:
    """Make Redis a replica of a server that does not exist."""
    with redis.Redis.from_url(server.url) as operator:
        operator.replicaof("127.0.0.1", find_free_port())
        yield
        operator.replicaof("NO", "ONE")


@contextmanager
def demanding_a_password(server: RedisServer) -> Iterator[None]:
    with redis.Redis.from_url(server.url) as operator:
        operator.config_set("requirepass", "a password that nobody told the service")
        operator.client_kill_filter(_type="normal", skipme=True)
        yield
        operator.config_set("requirepass", "")


class Api(RunningService):
    """Runs only the API. Workers elsewhere have the messages and log their own warnings about Redis."""

    async def _work(self) -> None: ...


@pytest.fixture
def ask_again_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test see many attempts in vain: they are seconds apart otherwise."""
    monkeypatch.setattr("monitoring.backends.outage.RETRY_AFTER_SECONDS", 0.1)


class TestRedis:
    @pytest.mark.usefixtures("no_patience_with_redis", "ask_again_soon")
    @pytest.mark.parametrize("in_trouble", [stopped, frozen, out_of_memory, read_only, demanding_a_password])
    def test_whatever_its_trouble_requests_are_answered_as_before_with_one_warning(
        self,
        in_trouble: Callable[[RedisServer], AbstractContextManager[None]],
        redis_server: RedisServer,
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        caplog.set_level(logging.INFO, "monitoring.backends.outage")
        with (
            running_service(tmp_path, Api, redis_url=redis_server.url) as service,
            Player(service, form_team(service)) as alice,
            Visitor(service, form_team(service)) as visitor,
            publishing_at(service) as publisher,
        ):
            requests: list[Callable[[], httpx.Response]] = [
                lambda: alice.get(MONITORS),
                lambda: visitor.open("/monitors"),
                lambda: publisher.post(WEBHOOK, json={"article": {"title": str(uuid4())}}),
            ]
            assert all(send().is_success for send in requests)
            with in_trouble(redis_server):
                for send in requests * 3:
                    assert all(answer.is_success for answer in at_once(send))
                assert told(caplog) == ["Redis"]
            wait_until(lambda: all(send().is_success for send in requests) and len(told(caplog)) == 2)
        assert told(caplog) == ["Redis", "Over"]


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return how each message about this Redis begins; services of other tests tell of their own servers."""
    return [
        re.split(r":| at ", record.message)[0]
        for record in caplog.records
        if record.name == "monitoring.backends.outage" and "Redis at" in record.message
    ]
