"""Runs a command of the service in its own process, with the processes that it starts."""

from __future__ import annotations

import os
import resource
import socket
import subprocess
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from clean_logs import demand_no_traceback
from forked_commands import ForkedCommand
from service_process import LISTENING, MONITORING, TIMEOUT_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from signal import Signals

    from service_process import Installation


class RunningCommand:
    """A running command and its log."""

    def __init__(self, process: ForkedCommand | subprocess.Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    @property
    def lines(self) -> list[str]:
        return self._log.read_text().splitlines()

    @property
    def forking(self) -> list[int]:
        """The ids of the processes from which the command's children are forked.

        There is one, unless one is being replaced.
        """
        return [
            child for child in _children_of(self._process.pid) if b"forkserver" in _read_command_line(child)
        ]

    @property
    def children(self) -> set[int]:
        """The ids of the child processes that do the command's work, if the command does not do it itself."""
        return {child for parent in self.forking for child in _children_of(parent)}

    @property
    def base_url(self) -> str:
        """The URL on which the command listens. Waits until the command listens."""
        wait_until(lambda: LISTENING.search(self._log.read_text()) or self.has_ended)
        listening = LISTENING.search(self._log.read_text())
        assert listening, self.lines
        return listening[1]

    @property
    def open_files(self) -> int:
        """The maximum number of files that the command may have open."""
        return resource.prlimit(self._process.pid, resource.RLIMIT_NOFILE)[0]

    def locks_on(self, file: Path) -> list[str]:
        """Return the POSIX locks that the command holds on a file, in the format of proc_locks(5)."""
        inode = str(file.stat().st_ino)
        locks = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
        return [
            " ".join(lock)
            for lock in locks
            if str(self._process.pid) in lock and lock[5].rpartition(":")[2] == inode
        ]

    @property
    def address(self) -> tuple[str, int]:
        parts = urlsplit(self.base_url)
        assert parts.hostname
        assert parts.port
        return parts.hostname, parts.port

    def signal(self, number: Signals) -> None:
        """Send a signal and wait until it is delivered.

        Otherwise, a second signal could be merged with it.
        """
        self._process.send_signal(number)
        wait_until(lambda: self.has_ended or not _has_pending_signals(self._process.pid))

    def wait(self) -> int:
        """Wait until the command has ended, and return its exit status, which is negative after a signal."""
        return self._process.wait(TIMEOUT_SECONDS)

    def kill(self) -> None:
        """End the command with `kill -9`."""
        self._process.kill()
        self._process.wait(TIMEOUT_SECONDS)

    def refuses_connections(self) -> bool:
        with socket.socket() as connection:
            return connection.connect_ex(self.address) != 0


@contextmanager
def running_command(
    installation: Installation, *arguments: str, within: Sequence[str] = (), **environment: str
) -> Iterator[RunningCommand]:
    """Run a command until the block ends. `within` is a program that starts the command, if any."""
    log = installation.folder / f"log of {' '.join(arguments)}"
    with log.open("w") as output:
        settings = installation.environment | environment
        process: ForkedCommand | subprocess.Popen[bytes]
        if within:
            process = subprocess.Popen([*within, *MONITORING, *arguments], env=settings, stderr=output)
        else:
            process = ForkedCommand(arguments, settings, stderr=output)
        running = RunningCommand(process, log)
    try:
        yield running
    finally:
        running.kill()
    demand_no_traceback(log)


def is_alive(process_id: int) -> bool:
    """Return whether a process is still running. A process that has ended may still exist as a zombie."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def kill(process_id: int, number: Signals) -> None:
    os.kill(process_id, number)


def _children_of(process_id: int) -> list[int]:
    return list(map(int, Path(f"/proc/{process_id}/task/{process_id}/children").read_text().split()))


def _read_command_line(process_id: int) -> bytes:
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{process_id}/cmdline").read_bytes()
    return b""


def _has_pending_signals(process_id: int) -> bool:
    with suppress(FileNotFoundError, ProcessLookupError):
        status = Path(f"/proc/{process_id}/status").read_text()
        return any(
            int(line.split()[1], 16) for line in status.splitlines() if line.startswith(("SigPnd", "ShdPnd"))
        )
    return False
