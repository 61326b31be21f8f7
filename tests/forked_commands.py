"""Runs commands of the service, forked from a process that has already loaded their modules.

Loading them is most of the startup time. A child process continues as `monitoring` does, with its own
arguments, environment and output, and ends as the interpreter normally does.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from io import FileIO
from selectors import EVENT_READ, DefaultSelector
from signal import SIGKILL
from typing import IO, TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MODULES = (
    "monitoring.cli.preloaded",  # first, because it prepares metrics for forked processes
    "monitoring.cli.preloaded_for_serving",
    "monitoring.cli.processes",
    "monitoring.cli.working",
    "monitoring.cli.checking",
    "monitoring.backends.migrations",
    "monitoring.backends.database_clients.asyncpg",
    "monitoring.backends.objects",
)
STDOUT, STDERR = 1, 2
MAX_REQUEST_BYTES = 65_536
NUMBER_BYTES = 8


class ForkedCommand:
    """A command in its own process, with the interface of `subprocess.Popen`."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        stdout: IO[str] | int = STDOUT,
        stderr: IO[str] | int = STDERR,
    ) -> None:
        self._reports, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        request = json.dumps([arguments, environment]).encode()
        outputs = [output if isinstance(output, int) else output.fileno() for output in (stdout, stderr)]
        with its_end:
            socket.send_fds(_start_forking(), [request], [its_end.fileno(), *outputs])
        self.pid = self._read_report(None)
        self._status: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, which is negative after a signal, or None while the command runs."""
        try:
            return self.wait(0)
        except BlockingIOError:
            return None

    def wait(self, timeout: float) -> int:
        """Return the exit status. Raises TimeoutError if the command still runs after `timeout` seconds."""
        if self._status is None:
            self._status = self._read_report(timeout)
            self._reports.close()
        return self._status

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the command has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Kill the command without any cleanup."""
        self.send_signal(SIGKILL)

    def _read_report(self, timeout: float | None) -> int:
        self._reports.settimeout(timeout)
        return int(self._reports.recv(NUMBER_BYTES))


@cache
def _start_forking() -> socket.socket:
    """Start the process that forks commands. It ends when this process ends."""
    requests, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its_end:
        command = [sys.executable, "-P", __file__, str(its_end.fileno())]
        subprocess.Popen(command, pass_fds=[its_end.fileno()])
    return requests


class _Child(NamedTuple):
    """A running command, a file that is readable once it has ended, and a socket that reports its status."""

    process_id: int
    end: FileIO
    reports: socket.socket

    def report_end(self) -> None:
        _, status = os.waitpid(self.process_id, 0)
        with self.end, self.reports, suppress(BrokenPipeError):  # a failed test does not wait for the status
            self.reports.send(b"%d" % os.waitstatus_to_exitcode(status))


def become_command(requests: socket.socket) -> None:
    """Fork for each request, and report the child's id and exit status.

    Only the child returns from this function.
    """
    with requests, DefaultSelector() as selector:
        selector.register(requests, EVENT_READ)
        while True:
            for ready, _ in selector.select():
                if isinstance(ready.data, _Child):
                    selector.unregister(ready.fileobj)
                    ready.data.report_end()
                    continue
                request, descriptors, *_ = socket.recv_fds(requests, MAX_REQUEST_BYTES, 3)
                if not request:
                    sys.exit()
                reports, *outputs = descriptors
                process_id = os.fork()
                if not process_id:
                    os.close(reports)
                    _take_over(json.loads(request), *outputs)
                    return
                for output in outputs:
                    os.close(output)
                child = _Child(process_id, FileIO(os.pidfd_open(process_id)), socket.socket(fileno=reports))
                child.reports.send(b"%d" % process_id)
                selector.register(child.end, EVENT_READ, child)


def _take_over(request: tuple[list[str], dict[str, str]], output: int, errors: int) -> None:
    """Set up this process as if it had been started for the command."""
    arguments, environment = request
    sys.argv = ["monitoring", *arguments]
    os.environ.clear()
    os.environ.update(environment)
    for descriptor, standard in ((output, STDOUT), (errors, STDERR)):
        os.dup2(descriptor, standard)
        os.close(descriptor)


if __name__ == "__main__":
    for module in MODULES:
        import_module(module)
    become_command(socket.socket(fileno=int(sys.argv[1])))
    from monitoring.cli import main

    main()
