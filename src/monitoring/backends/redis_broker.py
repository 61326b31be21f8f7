"""A Redis broker for Dramatiq that tolerates outages: it logs one warning, and consumers wait for Redis."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import redis
from dramatiq import Consumer, Message, MessageProxy
from dramatiq.brokers.redis import RedisBroker
from dramatiq.errors import BrokerConnectionError
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError
from redis.retry import Retry

from monitoring.backends.outage import Outage

NAMESPACE = "monitoring"
REDIS_TIMEOUT_SECONDS = 1.0
PATIENCE_SECONDS = 1.0

# A killed worker's messages are redelivered at the first maintenance after the heartbeat timeout. With a poll
# every 250 ms and maintenance in 2 % of the commands, that takes 16 to 30 seconds (measured).
HEARTBEAT_TIMEOUT_MS = 15_000
MAINTENANCE_CHANCE_PER_MILLION = 20_000

AWAY = (BrokerConnectionError, redis.RedisError, OSError)


class PatientBroker(RedisBroker):
    """A broker that never raises if Redis is unavailable. The sweep sends missing messages later.

    Dramatiq's own broker would log a critical error every three seconds for each queue.
    """

    def __init__(self, redis_url: str, outage: Outage) -> None:
        client: Any = _WatchedRedis.from_url(
            redis_url,
            socket_connect_timeout=REDIS_TIMEOUT_SECONDS,
            socket_timeout=REDIS_TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),
        )
        client.outage = outage
        super().__init__(  # type: ignore[no-untyped-call]
            client=client,
            middleware=[],
            namespace=NAMESPACE,
            heartbeat_timeout=HEARTBEAT_TIMEOUT_MS,
            maintenance_chance=MAINTENANCE_CHANCE_PER_MILLION,
        )

    def consume(self, queue_name: str, prefetch: int = 1, timeout: int = 5000) -> Consumer:
        """Return a consumer that waits for Redis whenever it is unavailable."""
        return _PatientConsumer(super().consume(queue_name, prefetch, timeout))

    def enqueue(self, message: Message[Any], *, delay: int | None = None) -> Message[Any]:
        """Send a message. Does nothing if Redis is unavailable."""
        self.try_to_enqueue(message, delay)
        return message

    def try_to_enqueue(self, message: Message[Any], delay_ms: int | None) -> bool:
        """Send a message. Returns False if Redis is unavailable."""
        with suppress(*AWAY):
            super().enqueue(message, delay=delay_ms)
            return True
        return False


class _PatientConsumer(Consumer):
    def __init__(self, consumer: Consumer) -> None:
        self._consumer = consumer
        self._finished: list[MessageProxy] = []

    def __next__(self) -> MessageProxy | None:
        """Return the next message. None if there is none or Redis is unavailable."""
        with suppress(*AWAY):
            while self._finished:
                self._consumer.ack(self._finished[-1])
                self._finished.pop()
            return next(self._consumer)
        time.sleep(PATIENCE_SECONDS)
        return None

    def ack(self, message: MessageProxy) -> None:
        """Acknowledge a message. If Redis is unavailable, retry later.

        Until it is acknowledged, the message counts as unfinished.
        """
        with suppress(*AWAY):
            self._consumer.ack(message)
            return
        self._finished.append(message)

    def nack(self, message: MessageProxy) -> None:
        """Reject a message for an unknown task."""
        with suppress(*AWAY):
            self._consumer.nack(message)

    def requeue(self, messages: Iterable[MessageProxy]) -> None:
        """Requeue messages. If Redis is unavailable, other workers get them once our heartbeat times out."""
        with suppress(*AWAY):
            self._consumer.requeue(messages)

    def close(self) -> None:
        """Close the consumer."""
        self._consumer.close()


class _WatchedRedis(redis.Redis):
    """A Redis client that records with every command whether the server responded."""

    outage: Outage

    def execute_command(self, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - its interface
        """Execute a command, and record the beginning or end of an outage."""
        try:
            answer = super().execute_command(*args, **options)  # type: ignore[no-untyped-call]
        except NoScriptError:
            raise  # Dramatiq then sends the script
        except AWAY as error:
            self.outage.begin(error)
            raise
        self.outage.end()
        return answer
