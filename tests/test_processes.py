"""Tests several processes of a kind: they are replaced when they die, and stopped during their work."""

from __future__ import annotations

import re
from signal import SIGINT, SIGKILL, SIGTERM, Signals
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from raw_http import connect, read_answer, request
from real_servers import RedisServer, running_redis
from running_command import RunningCommand, is_alive, kill, running_command
from running_service import WEBHOOK_SECRET
from service_process import Installation, wait_until
from slow_engine import SlowEngine, slow_engine

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from socket import socket

LOCALES = ("es", "pt")
DELIVERY = b'{"article": {"title": "Shoes", "content": "They are fit.", "slug": "shoes"}}'

PRODUCTION = pytest.mark.production("without Redis there is one process only")

ENDED_BY_CTRL_C, ENDED_BY_SIGTERM = 128 + SIGINT, -SIGTERM

# Timeouts that are either far too long or far too short for a test.
PATIENT, IMPATIENT = {"SHUTDOWN_TIMEOUT_SECONDS": "600"}, {"SHUTDOWN_TIMEOUT_SECONDS": "0.5"}


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    """Run a separate Redis for this module, because its tests stop Redis."""
    with running_redis() as server:
        yield server


@pytest.fixture
def installation(tmp_path: Path, redis: RedisServer) -> Installation:
    installation = Installation(tmp_path)
    installation.environment |= {"REDIS_URL": redis.new_database(), "LOCALES": ",".join(LOCALES)}
    installation.make_tables()
    return installation


@pytest.fixture
def engine(installation: Installation) -> Iterator[SlowEngine]:
    with slow_engine() as engine:
        installation.environment |= engine.environment
        yield engine


@pytest.fixture
def api(installation: Installation) -> Iterator[httpx.Client]:
    """Run a process that only serves, and yield a client for it."""
    with running_command(installation, "serve") as serving, publisher_of(serving) as client:
        yield client


def publisher_of(serving: RunningCommand) -> httpx.Client:
    return httpx.Client(base_url=serving.base_url, headers={"X-Webhook-Secret": WEBHOOK_SECRET}, timeout=30)


def deliver(api: httpx.Client, slug: str) -> str:
    article = {"title": f"All about {slug}", "content": f"The {slug} are fit.", "slug": slug}
    answer = api.post("/api/webhooks/publisher", json={"article": article})
    assert answer.status_code == 202
    return answer.headers["Location"]


def read_translations(api: httpx.Client, location: str) -> list[dict[str, Any]]:
    translations: list[dict[str, Any]] = api.get(location).raise_for_status().json()["translations"]
    return translations


def are_translated(api: httpx.Client, location: str) -> bool:
    return {translation["status"] for translation in read_translations(api, location)} == {"translated"}


def read_attempts(api: httpx.Client, location: str) -> list[tuple[str, int]]:
    return [
        (translation["status"], translation["attempts"]) for translation in read_translations(api, location)
    ]


def begin_delivery(connection: socket) -> bytes:
    """Send half a submission, and wait until the server requests its body. Return the other half."""
    whole = request(
        "POST",
        "/api/webhooks/publisher",
        f"X-Webhook-Secret: {WEBHOOK_SECRET}",
        "Content-Type: application/json",
        "Expect: 100-continue",
        body=DELIVERY,
    )
    connection.sendall(whole[:-20])
    assert connection.recv(1024).startswith(b"HTTP/1.1 100 Continue")
    return whole[-20:]


@PRODUCTION
class TestServeWorkers:
    """Tests `monitoring serve --workers 2`."""

    def test_all_answer_at_one_address_that_is_announced_once(self, installation: Installation) -> None:
        with running_command(installation, "serve", "--workers", "2") as serving:
            for _ in range(10):
                assert httpx.get(f"{serving.base_url}/health").status_code == 200
            assert len(serving.children) == 2
            (line,) = serving.lines
            assert line.endswith(f"Listening on {serving.base_url}")

    def test_a_killed_process_is_replaced_and_nobody_is_refused(self, installation: Installation) -> None:
        with running_command(installation, "serve", "--workers", "2") as serving:
            assert serving.base_url
            first, second = serving.children
            kill(first, SIGKILL)
            wait_until(lambda: len(serving.children - {first}) == 2)
            kill(second, SIGKILL)
            assert httpx.get(f"{serving.base_url}/health", timeout=30).status_code == 200

    def test_no_process_outlives_a_killed_parent(self, installation: Installation) -> None:
        with running_command(installation, "serve", "--workers", "2") as serving:
            assert serving.base_url
            children = serving.children
            serving.kill()
            wait_until(lambda: not any(map(is_alive, children)))
        assert len(children) == 2

    @pytest.mark.parametrize(("number", "status"), [(SIGINT, ENDED_BY_CTRL_C), (SIGTERM, ENDED_BY_SIGTERM)])
    def test_all_end_quietly_with_the_parent(
        self, installation: Installation, number: Signals, status: int
    ) -> None:
        with running_command(installation, "serve", "--workers", "2") as serving:
            assert serving.base_url
            children = serving.children
            for child in children:
                kill(child, number)  # as a terminal and systemd do
            serving.signal(number)
            assert serving.wait() == status
            assert not any(map(is_alive, children))
            assert len(serving.lines) == 1

    def test_a_port_that_is_taken_is_one_sentence(self, installation: Installation) -> None:
        with running_command(installation, "serve", "--workers", "2") as first:
            port = str(first.address[1])
            with running_command(installation, "serve", "--workers", "3", PORT=port) as second:
                assert second.wait() == 1
                (line,) = second.lines
                assert line.startswith(f"Cannot listen on 127.0.0.1, port {port}: Address already in use")

    def test_without_redis_there_is_only_one_process(self, installation: Installation) -> None:
        with running_command(installation, "serve", "--workers", "2", REDIS_URL="") as serving:
            assert serving.wait() == 1
            (line,) = serving.lines
            assert line.startswith("REDIS_URL is not set")

    def test_metrics_are_those_of_all_and_served_by_the_parent(self, installation: Installation) -> None:
        with running_command(installation, "serve", "--workers", "2", METRICS_PORT="0") as serving:
            for _ in range(5):
                httpx.get(f"{serving.base_url}/health")
            found = re.search(r"Metrics on (\S+)", "\n".join(serving.lines))
            assert found
            figures = httpx.get(found[1]).text
        counted = re.findall(
            r"^monitoring_http_requests_total\{.*get_health.*\} (\S+)", figures, re.MULTILINE
        )
        assert sum(map(float, counted)) == 5


@PRODUCTION
@pytest.mark.parametrize(
    "command",
    [("serve", "--workers", "2"), ("worker", "--processes", "2"), ("checker", "--processes", "2")],
    ids=" ".join,
)
def test_all_processes_are_replaced_if_the_one_that_they_are_forked_from_is_killed(
    installation: Installation, command: tuple[str, ...]
) -> None:
    settings = {"METRICS_PORT": "0", "CHECKS_AT_ONCE": "10", "SHUTDOWN_TIMEOUT_SECONDS": "5"}
    with running_command(installation, *command, **settings) as working:
        wait_until(lambda: len(working.children) == 2)
        metrics = re.search(r"Metrics on (\S+)", "\n".join(working.lines))
        assert metrics
        for _ in range(2):
            (forking,), children = working.forking, working.children
            kill(forking, SIGKILL)
            wait_until(lambda: len(working.children - children) == 2)  # noqa: B023 - it is called at once
            wait_until(lambda: not any(map(is_alive, children)))  # noqa: B023
            named = "api-0" if command[0] == "serve" else "monitoring_build_info"
            wait_until(lambda: named in figures_of(metrics[1]))  # noqa: B023
        working.signal(SIGTERM)
        assert working.wait() in {0, ENDED_BY_SIGTERM}
        said = "\n".join(working.lines)
    assert "is being stopped, because the process that forked it has ended" in said
    assert not re.search("Traceback|Aborted|ERROR", said)


def figures_of(address: str) -> str:
    return httpx.get(address, timeout=30).raise_for_status().text


@PRODUCTION
@pytest.mark.parametrize("workers", ["1", "2"])
class TestDraining:
    """Tests SIGTERM with DRAIN_SECONDS, which gives load balancers time to react."""

    def test_requests_are_taken_while_balancers_are_sent_away(
        self, installation: Installation, workers: str
    ) -> None:
        command = ("serve", "--workers", workers)
        with running_command(installation, *command, DRAIN_SECONDS="600") as serving:
            with connect(serving.address) as kept:
                kept.sendall(request("GET", "/health"))
                assert read_answer(kept).headers.get("connection") != "close"
                serving.signal(SIGTERM)
                wait_until(lambda: len(serving.lines) == 1 + int(workers))  # each process logs it
                wait_until(lambda: httpx.get(f"{serving.base_url}/ready", timeout=30).status_code == 503)
                kept.sendall(request("GET", "/health"))
                last = read_answer(kept)
                assert (last.status, last.headers["connection"]) == (200, "close")
                assert kept.recv(1) == b""
            new = httpx.get(f"{serving.base_url}/health")
            assert (new.status_code, new.headers.get_list("connection")) == (200, ["close"])
            serving.signal(SIGTERM)
            assert serving.wait() == ENDED_BY_SIGTERM

    def test_it_ends_by_itself(self, installation: Installation, workers: str) -> None:
        command = ("serve", "--workers", workers)
        with running_command(installation, *command, DRAIN_SECONDS="0.5") as serving:
            assert serving.base_url
            serving.signal(SIGTERM)
            wait_until(serving.refuses_connections)
            assert serving.wait() == ENDED_BY_SIGTERM


@PRODUCTION
@pytest.mark.parametrize("workers", ["1", "2"])
class TestRequestsInFlight:
    """Tests SIGTERM while a request is being sent."""

    def test_a_request_that_is_being_sent_is_answered(self, installation: Installation, workers: str) -> None:
        with running_command(installation, "serve", "--workers", workers, **PATIENT) as serving:
            with (
                connect(serving.address) as idle,
                connect(serving.address) as begun,
                connect(serving.address) as busy,
            ):
                idle.sendall(request("GET", "/health"))
                assert read_answer(idle).status == 200
                head = request("GET", "/health")
                begun.sendall(head[:10])
                rest = begin_delivery(busy)
                serving.signal(SIGTERM)
                wait_until(serving.refuses_connections)
                assert idle.recv(1) == b""  # closed immediately
                begun.sendall(head[10:])
                answer = read_answer(begun)
                assert (answer.status, answer.headers["connection"]) == (200, "close")
                busy.sendall(rest)
                answer = read_answer(busy)
            assert (answer.status, answer.headers["connection"]) == (202, "close")
            assert serving.wait() == ENDED_BY_SIGTERM
            assert len(serving.lines) == 1

    def test_one_that_takes_too_long_is_told_to_come_again(
        self, installation: Installation, workers: str
    ) -> None:
        with running_command(installation, "serve", "--workers", workers, **IMPATIENT) as serving:
            with connect(serving.address) as busy:
                begin_delivery(busy)
                serving.signal(SIGTERM)
                answer = read_answer(busy)
            assert (answer.status, "retry-after" in answer.headers) == (503, True)
            assert serving.wait() == ENDED_BY_SIGTERM

    def test_a_second_signal_waits_for_nobody(self, installation: Installation, workers: str) -> None:
        with running_command(installation, "serve", "--workers", workers, **PATIENT) as serving:
            with connect(serving.address) as busy:
                begin_delivery(busy)
                serving.signal(SIGTERM)
                wait_until(serving.refuses_connections)
                serving.signal(SIGTERM)
                assert read_answer(busy).status == 503
            assert serving.wait() == ENDED_BY_SIGTERM


@PRODUCTION
@pytest.mark.parametrize("processes", ["1", "2"])
class TestTasksInFlight:
    """Tests SIGTERM while articles are being translated."""

    def test_as_many_run_at_once_as_there_are_threads_in_all(
        self, installation: Installation, engine: SlowEngine, api: httpx.Client, processes: str
    ) -> None:
        with running_command(installation, "worker", "--processes", processes, "--threads", "2"):
            locations = [deliver(api, f"shoes-{number}") for number in range(6)]
            wait_until(lambda: engine.waiting_count == 2 * len(LOCALES) * int(processes))
            engine.answer()
            wait_until(lambda: all(are_translated(api, location) for location in locations))

    def test_a_task_may_finish(
        self, installation: Installation, engine: SlowEngine, api: httpx.Client, processes: str
    ) -> None:
        with running_command(installation, "worker", "--processes", processes, **PATIENT) as working:
            location = deliver(api, "shoes")
            wait_until(lambda: engine.waiting_count == len(LOCALES))
            working.signal(SIGTERM)
            engine.answer()
            assert working.wait() == 0
            assert working.lines == []
        assert read_attempts(api, location) == [("translated", 1)] * 2

    def test_one_that_takes_too_long_is_begun_again_by_another_worker_at_once(
        self, installation: Installation, engine: SlowEngine, api: httpx.Client, processes: str
    ) -> None:
        settings = IMPATIENT | {"SWEEP_INTERVAL_SECONDS": "3600"}
        with running_command(installation, "worker", "--processes", processes, **settings) as working:
            location = deliver(api, "shoes")
            wait_until(lambda: engine.waiting_count == len(LOCALES))
            working.signal(SIGTERM)
            assert working.wait() == 0  # although a thread is still waiting for the engine
            assert working.lines == []
        assert read_attempts(api, location) == [("queued", 0)] * 2
        engine.answer()
        with running_command(installation, "worker", "--processes", processes, **settings):
            wait_until(lambda: are_translated(api, location))

    def test_a_second_signal_waits_for_no_task(
        self, installation: Installation, engine: SlowEngine, api: httpx.Client, processes: str
    ) -> None:
        with running_command(installation, "worker", "--processes", processes, **PATIENT) as working:
            location = deliver(api, "shoes")
            wait_until(lambda: engine.waiting_count == len(LOCALES))
            working.signal(SIGTERM)
            working.signal(SIGTERM)
            assert working.wait() == 0
            assert working.lines == []
        assert read_attempts(api, location) == [("queued", 0)] * 2


@PRODUCTION
def test_workers_whose_parent_is_killed_give_their_work_back_and_end(
    installation: Installation, engine: SlowEngine, api: httpx.Client
) -> None:
    with running_command(installation, "worker", "--processes", "2", **IMPATIENT) as working:
        location = deliver(api, "shoes")
        wait_until(lambda: engine.waiting_count == len(LOCALES))
        children = working.children
        working.kill()
        wait_until(lambda: not any(map(is_alive, children)))
    assert len(children) == 2
    assert read_attempts(api, location) == [("queued", 0)] * 2


@pytest.mark.embedded("elsewhere tasks have processes of their own")
class TestEmbedded:
    """Tests SIGTERM if tasks run in the serving process."""

    def test_a_second_signal_waits_for_no_task(self, installation: Installation, engine: SlowEngine) -> None:
        embedded = PATIENT | {"REDIS_URL": ""}
        with running_command(installation, "serve", **embedded) as serving, publisher_of(serving) as api:
            location = deliver(api, "shoes")
            wait_until(lambda: engine.waiting_count == len(LOCALES))
            serving.signal(SIGTERM)
            wait_until(serving.refuses_connections)
            serving.signal(SIGTERM)
            assert serving.wait() == ENDED_BY_SIGTERM
            assert len(serving.lines) == 1
        with (
            running_command(installation, "serve", TRANSLATOR="none") as serving,
            publisher_of(serving) as api,
        ):
            assert read_attempts(api, location) == [("queued", 0)] * 2


@PRODUCTION
class TestWithoutRedis:
    """Tests what happens if Redis becomes unavailable while a worker is working."""

    def test_a_worker_stops_all_the_same(
        self, installation: Installation, engine: SlowEngine, api: httpx.Client, redis: RedisServer
    ) -> None:
        with running_command(installation, "worker", **IMPATIENT) as working:
            location = deliver(api, "shoes")
            wait_until(lambda: engine.waiting_count == len(LOCALES))
            redis.stop()
            try:
                wait_until(lambda: working.lines)
                working.signal(SIGTERM)
                assert working.wait() == 0
            finally:
                redis.start()
            (line,) = working.lines
            assert f"Redis at 127.0.0.1:{redis.port} is away" in line
        assert read_attempts(api, location) == [("queued", 0)] * 2

    def test_a_worker_waits_for_it_and_goes_on(
        self, installation: Installation, api: httpx.Client, redis: RedisServer
    ) -> None:
        with running_command(installation, "worker") as working:
            wait_until(lambda: are_translated(api, deliver(api, "shoes")))
            redis.stop()
            try:
                wait_until(lambda: working.lines)
            finally:
                redis.start()
            wait_until(lambda: len(working.lines) == 2)
            wait_until(lambda: are_translated(api, deliver(api, "boots")))
            away, back = working.lines
        assert "WARNING" in away
        assert f"Over: Redis at 127.0.0.1:{redis.port} is away" in back
