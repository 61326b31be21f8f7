"""The message queue: Dramatiq with Redis, or within this process if no Redis is configured.

It relies on undocumented details of Dramatiq 2, which tests/backends/test_queue.py covers:

- A `Worker` has its threads in `consumers` and `workers`. Each thread has a method `stop`. The worker reads
  `queue_prefetch` when it starts.
- A broker's `middleware` is a list. `StubBroker.queues` contains Python queues.
- A `RedisBroker` keeps a queue's messages in the hash `<namespace>:<queue>.msgs`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TypeVar

import dramatiq
import redis
from dramatiq import Broker
from dramatiq.brokers.stub import StubBroker
from pydantic import SecretStr

from monitoring.backends.errors import BackendUnavailable, QueueUnavailable, describe_error
from monitoring.backends.outage import Breaker, note_refusal
from monitoring.backends.redis_address import outage_of_redis
from monitoring.backends.redis_broker import NAMESPACE, PatientBroker
from monitoring.backends.tasks import Task
from monitoring.tracing import Carrier, carry, span

SEND_TIMEOUT_SECONDS = 1.0
IDLE_POLL_MS = 250

SIGN_OF_LIFE = f"{NAMESPACE}:sign-of-life"
SIGN_OF_LIFE_SECONDS = 60

# How long a stopping worker waits for its threads to finish their Redis commands, and for its consumers to
# requeue their messages.
LAST_COMMANDS_TIMEOUT_MS = 2000

# The number of threads for Redis calls. They block while Redis is unresponsive, so nothing else uses them.
CALLS_AT_ONCE = 8

Result = TypeVar("Result")

log = logging.getLogger(__name__)


class TaskQueue:
    """Sends messages, and can run a worker. The jobs are database rows, so losing a message loses no job.

    A message whose task raises is acknowledged, because attempts and retries are stored in the rows.
    """

    def __init__(self, redis_url: SecretStr | None, tasks: Sequence[Task]) -> None:
        self.outage = outage_of_redis(redis_url.get_secret_value()) if redis_url else None
        self._breaker = Breaker()
        self._threads = ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix="queue")
        self._broker: StubBroker | PatientBroker = (
            PatientBroker(redis_url.get_secret_value(), self.outage)
            if redis_url and self.outage
            else StubBroker(middleware=[])
        )
        self._worker: _Worker | None = None
        self._at_once = {task.queue_name: task.at_once for task in tasks}
        for task in tasks:
            declare = dramatiq.actor(broker=self._broker, actor_name=task.name, queue_name=task.queue_name)
            declare(self._actor_of(task))

    async def send(self, task: Task, args: Sequence[str], delay_seconds: float = 0) -> None:
        """Send a message. Never raises and never blocks for long. Failures are logged once per outage."""
        delay_ms = round(delay_seconds * 1000) or None
        with span(f"send {task.queue_name}", "producer", _describe(task, "send")):
            message = self._broker.get_actor(task.name).message(*args, **carry())
            if isinstance(self._broker, StubBroker):
                self._broker.enqueue(message, delay=delay_ms)
            elif self.outage and self._breaker.may_try():
                try:
                    async with asyncio.timeout(SEND_TIMEOUT_SECONDS):
                        was_sent = await self._call(self._broker.try_to_enqueue, message, delay_ms)
                except TimeoutError as error:
                    was_sent = False
                    self.outage.begin(error)
                if was_sent:
                    self._breaker.close()
                else:
                    self._breaker.open()

    async def try_to_write(self) -> None:
        """Write a small key that expires. Raises `QueueUnavailable`.

        Reads do not prove health: they succeed even if Redis is out of memory or is a replica.
        """
        if isinstance(self._broker, PatientBroker):
            write = partial(self._broker.client.set, SIGN_OF_LIFE, 1, ex=SIGN_OF_LIFE_SECONDS)
            try:
                await self._call(write)
            except (redis.RedisError, OSError) as error:
                raise QueueUnavailable(describe_error(error), self.outage) from error

    async def depths(self) -> dict[str, int]:
        """Return the number of unfinished messages by queue. Delayed messages are in `<queue>.DQ`.

        Raises `QueueUnavailable`.
        """
        names = self._broker.get_declared_queues() | self._broker.get_declared_delay_queues()
        if isinstance(self._broker, StubBroker):
            return {name: self._broker.queues[name].unfinished_tasks for name in names}
        # Count the message bodies, which remain until messages are acknowledged. The lists of ids lack the
        # messages that a worker has prefetched.
        counting = self._broker.client.pipeline(transaction=False)
        for name in names:
            counting.hlen(f"{NAMESPACE}:{name}.msgs")
        try:
            return dict(zip(names, await self._call(counting.execute), strict=True))
        except (redis.RedisError, OSError) as error:
            raise QueueUnavailable(type(error).__name__) from error

    def start_worker(self, threads: int) -> None:
        """Consume messages in threads of this process. Their tasks run on the running event loop.

        Each queue has its own threads, so that no queue blocks another. Their number is the `at_once` of the
        queue's tasks, or `threads` if `at_once` is None. Every task starts in a copy of the caller's context,
        so it uses the caller's backends.
        """
        if self._worker:
            raise RuntimeError("the worker of this queue is running already")
        threads_by_queue = {name: at_once or threads for name, at_once in self._at_once.items()}
        self._worker = _Worker(self._broker, asyncio.get_running_loop(), threads_by_queue)
        self._worker.start()  # after the assignment, because its threads read `self._worker`

    async def stop_worker(self, finishing_seconds: float = 0.0) -> None:
        """Stop consuming messages, and give running tasks up to `finishing_seconds` to finish.

        Unfinished tasks are then cancelled, and their messages are requeued. Cancelling this call cancels all
        running tasks immediately.
        """
        if self._worker:
            try:
                await self._worker.stop(finishing_seconds)
            finally:
                self._worker = None

    def close(self) -> None:
        """Close the connections to Redis."""
        self._threads.shutdown(wait=False)
        self._broker.close()
        if isinstance(self._broker, PatientBroker):
            # Connections in use are left open, because threads may still be waiting on them for Redis.
            self._broker.client.connection_pool.disconnect(inuse_connections=False)

    async def _call(self, function: Callable[..., Result], *args: object) -> Result:
        """Call a blocking Redis function in a thread, with the caller's context."""
        call = partial(copy_context().run, function, *args)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def _actor_of(self, task: Task) -> Callable[..., None]:
        def run_in_thread(*args: str, **trace: str) -> None:
            if self._worker and not self._worker.run(task, args, trace):
                self._broker.enqueue(self._broker.get_actor(task.name).message(*args, **trace))

        return run_in_thread


class _Worker:
    """Connects Dramatiq's worker threads with the event loop that runs the tasks."""

    def __init__(
        self, broker: Broker, loop: asyncio.AbstractEventLoop, threads_by_queue: Mapping[str, int]
    ) -> None:
        self._loop = loop
        self._context = copy_context()
        self._in_flight: set[asyncio.Task[None]] = set()
        self._is_stopping = False
        self._dramatiq = [
            _consume_queue(broker, queue_name, threads) for queue_name, threads in threads_by_queue.items()
        ]

    def start(self) -> None:
        for each in self._dramatiq:
            each.start()
            # A worker adds middleware that watches for new queues. It is removed, because we do not need it,
            # and a second worker's middleware would log a warning.
            each.broker.middleware.clear()

    def run(self, task: Task, args: Sequence[str], trace: Carrier) -> bool:
        """Run a task on the event loop and wait for it. Dramatiq's threads call this.

        Returns False if the worker stopped before the task finished.
        """
        try:
            return asyncio.run_coroutine_threadsafe(self._run_tracked(task, args, trace), self._loop).result()
        except CancelledError:  # the loop is closing
            return False

    async def _run_tracked(self, task: Task, args: Sequence[str], trace: Carrier) -> bool:
        if self._is_stopping:
            return False
        running = self._loop.create_task(_process(task, args, trace), context=self._context.copy())
        self._in_flight.add(running)
        running.add_done_callback(self._in_flight.discard)  # even if a closing loop cancels this coroutine
        await asyncio.wait([running])
        if running.cancelled():
            return not self._is_stopping
        try:
            running.result()
        except BackendUnavailable as error:
            note_refusal("task", error)
        return True

    async def stop(self, finishing_seconds: float) -> None:
        self._is_stopping = True
        for each in self._dramatiq:
            for consumer in each.consumers.values():
                consumer.stop()
            for thread in each.workers:
                thread.stop()
        try:
            if self._in_flight:
                await asyncio.wait(self._in_flight, timeout=finishing_seconds)
        finally:
            for running in self._in_flight:
                running.cancel("the worker stops")
            if self._in_flight:
                await asyncio.wait(self._in_flight)
            await asyncio.gather(
                *[asyncio.to_thread(each.stop, timeout=LAST_COMMANDS_TIMEOUT_MS) for each in self._dramatiq]
            )


async def _process(task: Task, args: Sequence[str], trace: Carrier) -> None:
    """Run a task within the trace of the message's sender."""
    with span(f"process {task.queue_name}", "consumer", _describe(task, "process"), parent=trace):
        await task.function(*args)


def _describe(task: Task, operation: str) -> dict[str, str]:
    """Return a message operation's attributes, following OpenTelemetry's semantic conventions."""
    return {
        "messaging.system": "dramatiq",
        "messaging.destination.name": task.queue_name,
        "messaging.operation.type": operation,
        "messaging.operation.name": task.name,
    }


def _consume_queue(broker: Broker, queue_name: str, threads: int) -> dramatiq.Worker:
    worker = dramatiq.Worker(broker, queues={queue_name}, worker_timeout=IDLE_POLL_MS, worker_threads=threads)
    # Prefetch one message per thread, so that none waits here while another process has an idle thread.
    worker.queue_prefetch = threads
    return worker
