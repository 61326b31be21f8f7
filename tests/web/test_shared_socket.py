from __future__ import annotations

import asyncio
import os
import signal
from socket import create_server
from typing import TYPE_CHECKING

import pytest

from monitoring.cli.supervising import Supervisor
from web.accepting_process import answer_process_id

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.anyio

WORKERS = 4


class Workers:
    """Processes that share a socket and answer with their ids, and the clients that stay connected."""

    def __init__(self, supervisor: Supervisor, port: int) -> None:
        self._supervisor, self._port = supervisor, port
        self._clients: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    @property
    def process_ids(self) -> set[int]:
        return set(self._supervisor.process_ids().values())

    async def ask(self) -> AsyncIterator[int]:
        """Ask again and again, and say who answered. A connection is kept until an answer ends it."""
        while True:
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            self._clients.append((reader, writer))
            is_kept = True
            while is_kept:
                writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
                is_kept = b"\r\nconnection: close\r\n" not in await reader.readuntil(b"\r\n\r\n")
                yield int(await reader.readexactly(10))

    async def connect(self) -> asyncio.StreamReader:
        """Open a connection, ask, and do not wait for the answer."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        writer.write(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        self._clients.append((reader, writer))
        return reader

    def disconnect(self) -> None:
        for _, writer in self._clients:
            writer.close()
        self._clients.clear()


async def read_answer(reader: asyncio.StreamReader) -> int:
    await reader.readuntil(b"\r\n\r\n")
    return int(await reader.readexactly(10))


@pytest.fixture
async def workers() -> AsyncIterator[Workers]:
    """Run four that all accept."""
    with create_server(("127.0.0.1", 0), backlog=1000) as listener:
        preload = ["monitoring.cli", "monitoring.web.uvicorn_bridge"]
        supervisor = Supervisor(
            answer_process_id, [(listener,)] * WORKERS, name="worker", finishing_seconds=5, preload=preload
        )
        workers = Workers(supervisor, listener.getsockname()[1])
        is_ready = asyncio.Event()
        running = asyncio.create_task(supervisor.run(is_ready.set, listener.close, lambda _: None))
        try:
            await is_ready.wait()
            yield workers
        finally:
            workers.disconnect()
            os.kill(os.getpid(), signal.SIGTERM)
            await running


async def test_connections_that_wait_are_not_lost_with_a_worker(workers: Workers) -> None:
    process_ids = workers.process_ids
    for process_id in process_ids:
        os.kill(process_id, signal.SIGSTOP)
    waiting = [await workers.connect() for _ in range(40)]
    killed = process_ids.pop()
    os.kill(killed, signal.SIGKILL)
    for process_id in process_ids:
        os.kill(process_id, signal.SIGCONT)
    answered_by = {await read_answer(reader) for reader in waiting}
    assert killed not in answered_by


async def test_connections_that_are_never_idle_do_not_stay_with_one_worker(workers: Workers) -> None:
    process_ids = workers.process_ids
    chosen = process_ids.pop()
    for process_id in process_ids:
        os.kill(process_id, signal.SIGSTOP)
    asking = [workers.ask() for _ in range(10)]
    first = {await anext(answers) for answers in asking}
    for process_id in process_ids:
        os.kill(process_id, signal.SIGCONT)
    assert first == {chosen}
    async with asyncio.timeout(60):  # the others may still be starting
        while {await anext(answers) for answers in asking} == first:
            pass
