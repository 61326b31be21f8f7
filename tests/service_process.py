"""Runs the service as in production: in one process if embedded, or else in a process for each part."""

from __future__ import annotations

import os
import re
import resource
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

import chosen_backends
from clean_logs import demand_no_traceback
from forked_commands import ForkedCommand
from ready_tables import make_tables
from running_service import SIGNING_KEY, WEBHOOK_SECRET
from temporary_backends import ENCRYPTION_KEY, make_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from signal import Signals

MONITORING = (sys.executable, "-c", "from monitoring.cli import main; main()")
LISTENING = re.compile(r"Listening on (http[^\s\"]+)[\s\"]")
TIMEOUT_SECONDS = 60.0


class Installation:
    """A folder with its backends, and the environment variables for the service's commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.environment = {
            "PATH": os.environ["PATH"],
            **chosen_backends.environment_for(folder),
            "SIGNING_KEYS": SIGNING_KEY,
            "ENCRYPTION_KEYS": ENCRYPTION_KEY,
            "WEBHOOK_SECRETS": WEBHOOK_SECRET,
            "TRANSLATOR": "pseudo",
            "LOCALES": "es,pt,fr,it,ca",
            "PORT": "0",
            "TRANSLATION_LEASE_SECONDS": "10",  # after a worker was killed, its claims soon expire
            "SWEEP_INTERVAL_SECONDS": "1",
            "CHECKS_AT_ONCE": "0",
            "DNS_SERVERS": "127.0.0.1:1",
        }

    @property
    def commands(self) -> tuple[str, ...]:
        """The commands that run while the service runs."""
        if not chosen_backends.is_production():
            return ("serve",)
        checkers = () if self.environment["CHECKS_AT_ONCE"] == "0" else ("checker",)
        return ("serve", "worker", *checkers)

    def run(self, *arguments: str) -> str:
        """Run a command, assert that it succeeds, and return its output."""
        with TemporaryFile("w+") as printed:
            command = ForkedCommand(arguments, self.environment, stdout=printed)
            assert command.wait(TIMEOUT_SECONDS) == 0
            printed.seek(0)
            return printed.read()

    def make_tables(self) -> None:
        """Migrate an empty database as `monitoring migrate` does, but much faster."""
        make_tables(make_settings(self.folder, data_dir=Path(self.environment["DATA_DIR"])))

    @contextmanager
    def serve(self) -> Iterator[ServiceProcess]:
        """Serve, translate and, if configured, make checks, until the block ends or stops the service."""
        with self.log.open("w+") as log:
            running = ServiceProcess(
                [ForkedCommand([name], self.environment, stderr=log) for name in self.commands]
            )
        try:
            wait_until(lambda: LISTENING.search(self.log.read_text()) or running.has_ended)
            listening = LISTENING.search(self.log.read_text())
            assert listening, self.log.read_text()
            running.base_url = listening[1]
            yield running
        finally:
            running.kill()
        demand_no_traceback(self.log)


class ServiceProcess:
    """The process that serves `base_url`, and the others of the service. They are stopped together."""

    base_url: str

    def __init__(self, processes: Sequence[ForkedCommand]) -> None:
        self._processes = processes

    @property
    def has_ended(self) -> bool:
        return any(process.poll() is not None for process in self._processes)

    def limit_memory(self, most_bytes: int) -> None:
        """Limit the memory of each process from now on."""
        for process in self._processes:
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (most_bytes, most_bytes))

    def stop(self, *signals: Signals, timeout_seconds: float) -> list[int]:
        """Send signals in immediate succession.

        Return the exit statuses, which are negative after a signal.
        """
        for signal in signals:
            for process in self._processes:
                process.send_signal(signal)
        return [process.wait(timeout_seconds) for process in self._processes]

    def kill(self) -> None:
        """Kill all processes without any cleanup (`kill -9`)."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.wait(TIMEOUT_SECONDS)


def wait_until(condition: Callable[[], object], timeout_seconds: float = TIMEOUT_SECONDS) -> None:
    """Check a condition repeatedly, less often as time passes. Fail when the time is up."""
    began_at = time.monotonic()
    while not condition():
        waited_seconds = time.monotonic() - began_at
        assert waited_seconds < timeout_seconds, "it never came true"
        time.sleep(min(0.01 + waited_seconds / 10, 0.05))
