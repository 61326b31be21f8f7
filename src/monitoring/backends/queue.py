"""The message queue: Dramatiq over Redis, or inside this process when there is none."""

from __future__ import annotations

import asyncio
import logging
from contextvars import copy_context
from typing import TYPE_CHECKING, Any

import dramatiq
import redis
from dramatiq.brokers.redis import RedisBroker
from dramatiq.brokers.stub import StubBroker
from redis.backoff import NoBackoff
from redis.retry import Retry

from monitoring.backends.errors import QueueUnavailable
from monitoring.backends.outage import Outage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dramatiq import Broker
    from pydantic import SecretStr

    from monitoring.backends.tasks import Task

SEND_TIMEOUT_SECONDS = 1.0
STOP_TIMEOUT_SECONDS = 1.5

# A killed worker's messages are delivered again after the heartbeat timeout and the next maintenance: with a
# poll each 250 ms and 2 % of the commands doing maintenance, 16 to 30 seconds (measured).
HEARTBEAT_TIMEOUT_MS = 15_000
MAINTENANCE_CHANCE_PER_MILLION = 20_000
IDLE_POLL_MS = 250

logger = logging.getLogger(__name__)


class TaskQueue:
    """Sends messages, and runs a worker when asked. Rows are the jobs, so no message needs to survive.

    A task that raises is logged and acknowledged: attempts and retries are the rows' business.
    """

    def __init__(self, redis_url: SecretStr | None, tasks: Sequence[Task]) -> None:
        self._broker = _open_broker(redis_url)
        self._outage = Outage("The queue is away: the sweeper will send what was not sent")
        self._worker: _Worker | None = None
        for task in tasks:
            declare = dramatiq.actor(broker=self._broker, actor_name=task.name, queue_name=task.queue_name)
            declare(self._actor_of(task))

    async def send(self, task: Task, args: Sequence[str], delay_seconds: float = 0) -> None:
        """Send a message. Never raises and never takes long; a failure is one warning an outage."""
        message = self._broker.get_actor(task.name).message(*args)
        delay_ms = round(delay_seconds * 1000) or None
        if isinstance(self._broker, StubBroker):
            self._broker.enqueue(message, delay=delay_ms)
        elif not self._outage.is_on():
            try:
                async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
                    await asyncio.to_thread(self._broker.enqueue, message, delay=delay_ms)
            except (redis.RedisError, OSError) as error:
                self._outage.begin(error)
            else:
                self._outage.end()

    async def check(self) -> None:
        """Ask the queue for a sign of life. Raises `QueueUnavailable`."""
        if isinstance(self._broker, RedisBroker):
            try:
                await asyncio.to_thread(self._broker.client.ping)
            except (redis.RedisError, OSError) as error:
                raise QueueUnavailable(type(error).__name__) from error

    def start_worker(self, threads: int) -> None:
        """Consume messages in threads of this process; their tasks run on the running loop.

        Every task starts in a copy of the caller's context: what is active here is active there.
        """
        if self._worker:
            raise RuntimeError("the worker of this queue is running already")
        self._worker = _Worker(self._broker, asyncio.get_running_loop(), threads)
        self._worker.start()  # only now: its threads look for it at the first message

    async def stop_worker(self) -> None:
        """Stop within two seconds. What is in flight is cancelled; its rows are picked up again later."""
        worker, self._worker = self._worker, None
        if worker:
            await worker.stop()

    def close(self) -> None:
        """Let go of connections."""
        self._broker.close()
        if isinstance(self._broker, RedisBroker):
            self._broker.client.close()

    def _actor_of(self, task: Task) -> Callable[..., None]:
        def run_in_thread(*args: str) -> None:
            if self._worker:
                self._worker.run(task, args)

        return run_in_thread


class _Worker:
    """Dramatiq's threads on one side, one event loop on the other."""

    def __init__(self, broker: Broker, loop: asyncio.AbstractEventLoop, threads: int) -> None:
        self._loop = loop
        self._context = copy_context()
        self._in_flight: set[asyncio.Task[None]] = set()
        self._is_stopping = False
        self._threads = dramatiq.Worker(broker, worker_timeout=IDLE_POLL_MS, worker_threads=threads)
        self.start = self._threads.start

    def run(self, task: Task, args: Sequence[str]) -> None:
        """Run the task on the loop and wait for it. Called from Dramatiq's threads."""
        asyncio.run_coroutine_threadsafe(self._run_tracked(task, args), self._loop).result()

    async def _run_tracked(self, task: Task, args: Sequence[str]) -> None:
        if self._is_stopping:
            return
        running = self._loop.create_task(task.function(*args), context=self._context.copy())
        self._in_flight.add(running)
        try:
            await asyncio.wait([running])
        finally:
            self._in_flight.discard(running)
        if not running.cancelled():
            running.result()

    async def stop(self) -> None:
        self._is_stopping = True
        for running in self._in_flight:
            running.cancel("the worker stops")
        try:
            await asyncio.to_thread(self._threads.stop, timeout=round(STOP_TIMEOUT_SECONDS * 1000 / 2))
        except Exception:  # noqa: BLE001 - Redis may be away while messages are given back
            logger.warning("The worker could not give its messages back; they are delivered again later")


def _open_broker(redis_url: SecretStr | None) -> Broker:
    if not redis_url:
        return StubBroker(middleware=[])
    client: Any = redis.Redis.from_url(
        redis_url.get_secret_value(),
        socket_connect_timeout=SEND_TIMEOUT_SECONDS,
        socket_timeout=SEND_TIMEOUT_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    return RedisBroker(  # type: ignore[no-untyped-call]
        client=client,
        middleware=[],
        namespace="monitoring",
        heartbeat_timeout=HEARTBEAT_TIMEOUT_MS,
        maintenance_chance=MAINTENANCE_CHANCE_PER_MILLION,
    )
