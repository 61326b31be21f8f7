"""Who is measured: the service and its peers, each a real process that listens on a port of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from processor_time import cpu_seconds, memory_mib

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

BENCHMARKS = Path(__file__).parent
ROOT = BENCHMARKS.parent
BUILD = ROOT / "build" / "bench"

# The same interpreter in two environments: what the service needs, and what the others do.
SERVICE_PYTHON = BUILD / "service" / "bin" / "python"
PEERS_PYTHON = BUILD / "peers" / "bin" / "python"

LISTENING = re.compile(r"(?:Listening|running) on http://127\.0\.0\.1:(\d+)")
START_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 20.0

SIGNING_KEY = "a-signing-key-of-the-benchmarks-0123456789"
WEBHOOK_SECRET = "a-webhook-secret-of-the-benchmarks"  # noqa: S105 - throw-away
NO_LIMIT = "999999999/60"

LOCALES = "es,pt,fr,it,ca,de,nl,pl,cs,sk,sv,da,fi,nb,hu,ro,bg,el,tr,uk"

MONITORING = "from monitoring.cli import main; main()"


@dataclass(frozen=True)
class Program:
    """What to start, in which folder if not in this one, and how it is called in the figures."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None

    def under(self, python: Path) -> Program:
        """Run it by another interpreter."""
        return replace(self, command=(str(python), *self.command[1:]))


@dataclass
class Server:
    """A running program. `port` is 0 for one that listens nowhere."""

    name: str
    pid: int
    port: int
    seconds_to_start: float
    cpu_seconds_to_start: float

    def cpu_seconds(self) -> float:
        """Return what the process and its children have used."""
        return cpu_seconds(self.pid)

    def memory_mib(self) -> float:
        """Return what they take, shared pages once."""
        return memory_mib(self.pid)


def service(*arguments: str, **environment: str) -> Program:
    """Describe a process of the service, with its settings."""
    settings = {
        "SIGNING_KEYS": SIGNING_KEY,
        "WEBHOOK_SECRETS": WEBHOOK_SECRET,
        "RATE_LIMIT_API": NO_LIMIT,
        "RATE_LIMIT_TOKEN": NO_LIMIT,
        "LOCALES": LOCALES,
        "CHECKS_AT_ONCE": "0",
        "SWEEP_INTERVAL_SECONDS": "3600",  # of work that nobody does here
        "PORT": "0",
    }
    command = (str(SERVICE_PYTHON), "-c", MONITORING, *(arguments or ("serve",)))
    return Program("service", command, settings | environment)


def peer(name: str, module: str, **environment: str) -> Program:
    """Describe a peer: an ASGI application of `peers/`, under the same server as ours."""
    command = [
        *(str(PEERS_PYTHON), "-m", "uvicorn", f"{module}:app", "--app-dir", str(BENCHMARKS / "peers")),
        *("--port", "0", "--loop", "uvloop", "--http", "httptools", "--no-access-log", "--ws", "none"),
        *("--no-server-header", "--no-proxy-headers"),
    ]
    settings = {"SIGNING_KEY": SIGNING_KEY, "WEBHOOK_SECRET": WEBHOOK_SECRET, "LOCALES": LOCALES}
    return Program(name, command, settings | environment)


@contextmanager
def running(program: Program, *, listens: bool = True) -> Iterator[Server]:
    """Start a program and wait until it listens; it is stopped with the block."""
    log_path = BUILD / "logs" / f"{re.sub('[^a-z0-9]+', '-', program.name.lower())}.log"
    log_path.parent.mkdir(parents=True, exist_ok=True)
    environment = {"PATH": os.environ["PATH"], **program.environment}
    began_at = time.perf_counter()
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            program.command,
            env=environment,
            cwd=program.folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        port = _wait_for_port(process, log_path) if listens else 0
        seconds = time.perf_counter() - began_at
        yield Server(program.name, process.pid, port, seconds, cpu_seconds(process.pid))
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for_port(process: subprocess.Popen[bytes], log_path: Path) -> int:
    deadline = time.monotonic() + START_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        if told := LISTENING.search(log_path.read_text(errors="replace")):
            return int(told[1])
        if process.poll() is not None:
            break
        time.sleep(0.005)
    raise RuntimeError(f"{' '.join(process.args[:4])} did not start:\n{log_path.read_text()[-3000:]}")  # type: ignore[index, arg-type]
