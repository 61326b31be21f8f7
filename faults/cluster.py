"""The service as operators run it at a larger scale: real servers, and two processes of each kind."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import orjson

from clean_logs import find_traceback
from real_servers import PostgresServer, RedisServer, find_free_port, running_postgres, running_redis
from replicas import Replica
from s3_server import S3Server, running_s3
from service_process import MONITORING
from telling import Mailbox
from watching import Site, running_site

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from journal import Journal

WEBHOOK_SECRET = "the-webhook-secret-of-the-fault-run"
LOCALES = ["es", "pt", "fr", "it", "ca"]
TEAM = "Alice's team"
SITE_TEAM = "The site's team"

START_TIMEOUT_SECONDS = 60.0
STOP_TIMEOUT_SECONDS = 20.0
COMMAND_TIMEOUT_SECONDS = 60.0
LAST_LINES = 15
MAX_TRACEBACK_CHARACTERS = 4000
LOGGED_ERROR = re.compile(r"^\S+ (?:ERROR|CRITICAL) (\S+) .*", re.MULTILINE)


class ClusterProcess:
    """One process of the service and its children, in their own process group."""

    def __init__(
        self,
        name: str,
        command: str,
        environment: Mapping[str, str],
        folder: Path,
        base_url: str | None = None,
    ) -> None:
        self.name = name
        self.base_url = base_url
        self.log = folder / f"{name.replace(' ', '-')}.log"
        self._arguments = [*MONITORING, command]
        self._environment = environment
        self._popen: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The id of the process. Raises `RuntimeError` while there is none."""
        if self._popen is None:
            raise RuntimeError(f"{self.name} does not run")
        return self._popen.pid

    @property
    def status_it_ended_with(self) -> int | None:
        """The exit status if the process ended by itself, not through `kill` or `stop`."""
        popen = self._popen
        return None if popen is None else popen.poll()

    def start(self) -> None:
        """Start the process. An API process answers when this returns, unless something else is broken."""
        with self.log.open("ab") as log:
            self._popen = subprocess.Popen(
                self._arguments, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + START_TIMEOUT_SECONDS
        while self.base_url and self.status_it_ended_with is None and time.monotonic() < deadline:
            with suppress(httpx.TransportError):
                httpx.get(f"{self.base_url}/health", trust_env=False, timeout=1)
                return
            time.sleep(0.05)

    def kill(self) -> None:
        """Kill the process, which gets no chance to clean up (`kill -9`)."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Stop the process as a deploy does. If it does not end, kill it and raise `TimeoutExpired`."""
        self._end(signal.SIGTERM)

    def freeze(self) -> None:
        """Suspend the process without notice to anybody."""
        self._send(self._popen, signal.SIGSTOP)

    def thaw(self) -> None:
        self._send(self._popen, signal.SIGCONT)

    def errors(self) -> list[tuple[str, str]]:
        """Return logger and line of every logged error."""
        logged = LOGGED_ERROR.finditer(self.log.read_text(errors="replace"))
        return [(match[1], match[0]) for match in logged]

    def last_words(self) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-LAST_LINES:])

    def _end(self, number: signal.Signals) -> None:
        popen, self._popen = self._popen, None
        if popen is None:
            return
        self._send(popen, number)
        try:
            popen.wait(STOP_TIMEOUT_SECONDS)
        finally:
            self._send(popen, signal.SIGKILL)  # children it left behind
            popen.wait(STOP_TIMEOUT_SECONDS)

    @staticmethod
    def _send(popen: subprocess.Popen[bytes] | None, number: signal.Signals) -> None:
        if popen is not None:
            with suppress(ProcessLookupError):
                os.killpg(popen.pid, number)


@dataclass(kw_only=True)
class Operated:
    """Processes, and the operator's commands."""

    environment: Mapping[str, str]
    processes: list[ClusterProcess]

    @property
    def replicas(self) -> list[Replica]:
        return [Replica(process.name, process.base_url) for process in self.processes if process.base_url]

    def try_command(self, *arguments: str) -> Any | None:
        """Run a command. None if it failed, as it may while the database is away."""
        done = subprocess.run(
            [*MONITORING, *arguments, "--json"],
            env=self.environment,
            capture_output=True,
            timeout=COMMAND_TIMEOUT_SECONDS,
            check=False,
        )
        return orjson.loads(done.stdout) if done.returncode == 0 else None


def common_settings() -> dict[str, str]:
    """Return what every process of a run is told, wherever its backends are."""
    return {
        **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
        "SIGNING_KEYS": "a-signing-key-of-the-fault-run-0123456789",
        "ENCRYPTION_KEYS": "YS1rZXktb2YtdGhlLWZhdWx0LXJ1bi0wMTIzNDU2Nzg=",
        "WEBHOOK_SECRETS": WEBHOOK_SECRET,
        "TRANSLATOR": "pseudo",
        "LOCALES": ",".join(LOCALES),
        "ARTICLE_TEAMS": TEAM,
        "RATE_LIMIT_API": "1000000/60",
        "RATE_LIMIT_TOKEN": "1000000/60",
        "SWEEP_INTERVAL_SECONDS": "1",
        "SESSION_COOKIE_SECURE": "false",
        "DNS_SERVERS": "127.0.0.1:9",
    }


@dataclass(kw_only=True)
class Cluster(Operated):
    """All processes and servers."""

    postgres: PostgresServer
    redis: RedisServer
    s3: S3Server
    site: Site
    mailbox: Mailbox
    database_url: str


@contextmanager
def running_cluster(folder: Path, translator: str, **settings: str) -> Iterator[Cluster]:
    """Start everything on free ports, with logs in a folder, and stop it at the end of the context."""
    with ExitStack() as stack:
        postgres = stack.enter_context(running_postgres())
        redis = stack.enter_context(running_redis())
        s3 = stack.enter_context(running_s3())
        site = stack.enter_context(running_site())
        mailbox = stack.enter_context(Mailbox(folder))
        database_url = postgres.create_database()
        environment = {
            **common_settings(),
            **s3.environment,
            "DATABASE_URL": database_url,
            "REDIS_URL": redis.url,
            "BLOG_STORAGE_URL": s3.url,
            "TRANSLATOR": translator,
            "TRANSLATION_LEASE_SECONDS": "5",
            "TRANSLATION_MAX_ATTEMPTS": "100",  # every kill during an attempt uses it up
            "ALLOWED_NETWORKS": "127.0.0.1/32",
            "REFERENCE_URLS": site.url,
            "SMTP_URL": mailbox.url,
            "EMAIL_FROM": "Monitoring <monitoring@example.com>",
            "CA_FILE": str(mailbox.ca_file),
            **settings,
        }
        subprocess.run([*MONITORING, "migrate"], env=environment, check=True)
        processes = []
        for number in (1, 2):
            port = str(find_free_port())
            own = environment | {"PORT": port}
            processes += [
                ClusterProcess(f"api {number}", "serve", own, folder, f"http://127.0.0.1:{port}"),
                ClusterProcess(f"worker {number}", "worker", environment, folder),
                ClusterProcess(f"checker {number}", "checker", environment, folder),
            ]
        cluster = Cluster(
            environment=environment,
            processes=processes,
            postgres=postgres,
            redis=redis,
            s3=s3,
            site=site,
            mailbox=mailbox,
            database_url=database_url,
        )
        for team in (TEAM, SITE_TEAM):
            if cluster.try_command("teams", "create", team, "--plan", "business") is None:
                raise RuntimeError(f"{team} could not be created")
        for process in processes:
            stack.callback(process.kill)
            process.start()
        yield cluster


def watch(cluster: Operated, journal: Journal, over: threading.Event) -> None:
    """Report and restart every process that ends by itself, as an orchestrator would."""
    while not over.wait(0.5):
        for process in cluster.processes:
            status = process.status_it_ended_with
            if status is not None:
                last_words = process.last_words()
                journal.record_violation(
                    f"{process.name} ended by itself with status {status}:\n{last_words}"
                )
                with journal.fault(process.name, "ended by itself"):
                    process.kill()
                    process.start()


def judge_logs(cluster: Operated, journal: Journal) -> None:
    """Count logged errors. Report tracebacks, and errors of the service itself, which outages are not."""
    for process in cluster.processes:
        if found := find_traceback(process.log.read_text(errors="replace")):
            journal.record_violation(
                f"{process.name} logged a traceback:\n{found[:MAX_TRACEBACK_CHARACTERS]}"
            )
        for logger, line in process.errors():
            journal.count("Errors logged", logger)
            if logger.startswith("monitoring."):
                journal.record_violation(f"{process.name} logged an error: {line}")
