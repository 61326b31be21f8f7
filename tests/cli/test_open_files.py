from __future__ import annotations

import socket
from contextlib import ExitStack
from typing import TYPE_CHECKING

from raw_http import exchange, read_answer, request
from running_command import running_command
from service_process import Installation, wait_until

if TYPE_CHECKING:
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


def test_a_process_takes_as_many_files_as_it_may_have(tmp_path: Path) -> None:
    installation = Installation(tmp_path)
    installation.make_tables()
    limited = ("prlimit", "--nofile=128:1024")
    with running_command(installation, "serve", within=limited) as serving:
        wait_until(lambda: exchange(serving.address, READY).status == 200)
        assert serving.open_files == 1024
