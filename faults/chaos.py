"""What breaks, and how. Each target has its own storm, so that several are broken at the same time."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import redis

from frozen_servers import frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from random import Random
    from threading import Event

    from cluster import Cluster, ClusterProcess
    from journal import Journal
    from real_servers import PostgresServer, RedisServer
    from s3_server import S3Server

POSTGRES_STOP_TIMEOUT_SECONDS = 30.0

# The target is broken inside the context and heals at its end.
Fault = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Target:
    """Something that breaks now and then for a while, in one of its ways after the other."""

    name: str
    faults: Mapping[str, Fault]
    calm_seconds: tuple[float, float]
    outage_seconds: tuple[float, float]

    def storm(self, chance: Random, journal: Journal, over: Event) -> None:
        """Break and heal until the run is over."""
        kinds: list[str] = []
        while not over.wait(chance.uniform(*self.calm_seconds)):
            kinds = kinds or chance.sample(sorted(self.faults), len(self.faults))
            kind = kinds.pop()
            with journal.fault(self.name, kind), self.faults[kind]():
                over.wait(chance.uniform(*self.outage_seconds))


def list_targets(cluster: Cluster) -> list[Target]:
    """List everything that can break. Sometimes a process is frozen for longer than a lease lasts."""
    return [
        *(
            Target(process.name, faults_of_process(process), calm_seconds=(4, 16), outage_seconds=(0.2, 8))
            for process in cluster.processes
        ),
        Target("PostgreSQL", _faults_of_postgres(cluster.postgres), (8, 24), (0.2, 5)),
        Target("Redis", _faults_of_redis(cluster.redis), (6, 20), (0.2, 6)),
        Target("S3", _faults_of_s3(cluster.s3), (8, 24), (0.2, 6)),
    ]


def faults_of_process(process: ClusterProcess) -> Mapping[str, Fault]:
    """Name the ways in which a process breaks."""
    return {
        "kill -9": lambda: _broken_by(process.kill, process.start),
        "SIGTERM": lambda: _broken_by(process.stop, process.start),
        "frozen": lambda: _broken_by(process.freeze, process.thaw),
    }


def _faults_of_postgres(server: PostgresServer) -> Mapping[str, Fault]:
    return {
        "stopped at once": lambda: _broken_by(server.stop, server.start),
        "stopped in order": lambda: _broken_by(partial(_stop_in_order, server), server.start),
        "frozen": lambda: frozen(server),
    }


def _faults_of_redis(server: RedisServer) -> Mapping[str, Fault]:
    return {
        "killed, back empty": lambda: _broken_by(server.stop, server.start),
        "flushed": lambda: _broken_by(partial(_flush, server), lambda: None),
        "frozen": lambda: frozen(server),
    }


def _faults_of_s3(server: S3Server) -> Mapping[str, Fault]:
    return {
        "killed": lambda: _broken_by(server.stop, server.start),
        "frozen": lambda: frozen(server),
    }


@contextmanager
def _broken_by(break_it: Callable[[], object], heal_it: Callable[[], object]) -> Iterator[None]:
    break_it()
    try:
        yield
    finally:
        heal_it()


def _stop_in_order(server: PostgresServer) -> None:
    """Roll back transactions and shut down, as when an operator restarts the server."""
    process_id = server.process_id
    os.kill(process_id, signal.SIGINT)
    deadline = time.monotonic() + POSTGRES_STOP_TIMEOUT_SECONDS
    while Path(f"/proc/{process_id}").exists():
        if time.monotonic() > deadline:
            raise TimeoutError("PostgreSQL does not stop")
        time.sleep(0.02)


def _flush(server: RedisServer) -> None:
    with redis.Redis.from_url(server.url) as client:
        client.flushall()
