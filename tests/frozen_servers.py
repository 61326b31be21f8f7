"""Freezes servers: the network still accepts what is sent to a frozen server, but nothing responds."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from signal import SIGCONT, SIGSTOP
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from real_servers import PostgresServer, RedisServer
    from s3_server import S3Server


@contextmanager
def frozen(server: PostgresServer | RedisServer | S3Server) -> Iterator[None]:
    """Suspend every process of a server (`SIGSTOP`) until the block ends."""
    assert server.process_id, "the server is not running"
    stopped: list[int] = []
    try:
        _stop_family(server.process_id, stopped)
        yield
    finally:
        for process_id in reversed(stopped):
            os.kill(process_id, SIGCONT)


def _stop_family(process_id: int, stopped: list[int]) -> None:
    os.kill(process_id, SIGSTOP)  # the parent first, so that it starts no new child
    stopped.append(process_id)
    for child in Path(f"/proc/{process_id}/task/{process_id}/children").read_text().split():
        _stop_family(int(child), stopped)
