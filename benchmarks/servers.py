"""Starts the measured programs: the service and its peers, each a real process with its own port."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from processor_time import cpu_seconds, memory_mib

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

BENCHMARKS = Path(__file__).parent
ROOT = BENCHMARKS.parent
BUILD = ROOT / "build" / "bench"

# The same interpreter in two environments: one with the service's packages, and one with the peers' packages.
SERVICE_PYTHON = BUILD / "service" / "bin" / "python"
PEERS_PYTHON = BUILD / "peers" / "bin" / "python"

# The image's Python and OpenSSL with the service's packages, if `install-image-python` could unpack them.
IMAGE_PYTHON = BUILD / "image" / "bin" / "python"
AS_IN_THE_IMAGE = {"OPENSSL_CONF": str(ROOT / "deploy" / "openssl.cnf")}

# The peers in Go, if `install-go-peers` could install Go. Like the others, each uses one core.
GO_MONITORS, GO_CHECKS = BUILD / "go" / "monitors", BUILD / "go" / "checks"
ONE_CORE = {"GOMAXPROCS": "1"}

LISTENING = re.compile(r"(?:Listening|running) on http://127\.0\.0\.1:(\d+)")
START_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 20.0

ENCRYPTION_KEY = "YS1rZXktb2YtdGhlLWJlbmNobWFya3MtMDEyMzQ1Njc="
SIGNING_KEY = "a-signing-key-of-the-benchmarks-0123456789"
WEBHOOK_SECRET = "a-webhook-secret-of-the-benchmarks"  # noqa: S105 - throw-away
NO_LIMIT = "999999999/60"

LOCALES = "es,pt,fr,it,ca,de,nl,pl,cs,sk,sv,da,fi,nb,hu,ro,bg,el,tr,uk"

MONITORING = "from monitoring.cli import main; main()"


@dataclass(frozen=True)
class Program:
    """A program to start, its environment and working directory, and its name in the figures."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None

    def under(self, python: Path) -> Program:
        """Return the same program with another interpreter."""
        return replace(self, command=(str(python), *self.command[1:]))


@dataclass
class Server:
    """A running program. `port` is 0 if it does not listen."""

    name: str
    pid: int
    port: int
    seconds_to_start: float
    cpu_seconds_to_start: float

    def cpu_seconds(self) -> float:
        """Return the CPU time of the process and its children."""
        return cpu_seconds(self.pid)

    def memory_mib(self) -> float:
        """Return the memory of the process and its children. Shared pages are counted once."""
        return memory_mib(self.pid)


def service(*arguments: str, **environment: str) -> Program:
    """Return a process of the service with these arguments and settings."""
    settings = {
        "SIGNING_KEYS": SIGNING_KEY,
        "ENCRYPTION_KEYS": ENCRYPTION_KEY,
        "WEBHOOK_SECRETS": WEBHOOK_SECRET,
        "RATE_LIMIT_API": NO_LIMIT,
        "RATE_LIMIT_TOKEN": NO_LIMIT,
        "LOCALES": LOCALES,
        "CHECKS_AT_ONCE": "0",
        "SWEEP_INTERVAL_SECONDS": "3600",  # no worker here has any work
        "PORT": "0",
    }
    command = (str(SERVICE_PYTHON), "-c", MONITORING, *(arguments or ("serve",)))
    return Program("service", command, settings | environment)


def peer(name: str, module: str, **environment: str) -> Program:
    """Return a peer, which is an ASGI application in `peers/`, with the same ASGI server as the service."""
    command = [
        *(str(PEERS_PYTHON), "-m", "uvicorn", f"{module}:app", "--app-dir", str(BENCHMARKS / "peers")),
        *("--port", "0", "--loop", "uvloop", "--http", "httptools", "--no-access-log", "--ws", "none"),
        *("--no-server-header", "--no-proxy-headers"),
    ]
    settings = {"SIGNING_KEY": SIGNING_KEY, "WEBHOOK_SECRET": WEBHOOK_SECRET, "LOCALES": LOCALES}
    return Program(name, command, settings | environment)


@contextmanager
def running(program: Program, *, listens: bool = True) -> Iterator[Server]:
    """Start a program, wait until it listens, and stop it when the block ends."""
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
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_TIMEOUT_SECONDS)
        # Node.js may be the child of a Python process that does not forward signals.
        with suppress(ProcessLookupError):
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
