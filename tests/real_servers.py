"""Starts real PostgreSQL and Redis servers on free ports."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from debian_programs import find_program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

READY_TIMEOUT_SECONDS = 20
REDIS_DATABASES = 4096


@dataclass
class RedisServer:
    """A Redis server without persistence. It can be stopped, and started again on the same port."""

    port: int
    _process: subprocess.Popen[bytes] | None = None
    _numbers: Iterator[int] = field(default_factory=lambda: iter(range(1, REDIS_DATABASES)))

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def process_id(self) -> int | None:
        return self._process.pid if self._process else None

    def new_database(self) -> str:
        """Return the URL of a database that nothing else uses."""
        return f"redis://127.0.0.1:{self.port}/{next(self._numbers)}"

    def start(self) -> None:
        executable = find_program("redis-server")
        # fmt: off
        arguments = [
            "--port", str(self.port), "--bind", "127.0.0.1",
            "--databases", str(REDIS_DATABASES),
            "--save", "", "--appendonly", "no",
        ]
        # fmt: on
        self._process = subprocess.Popen([executable, *arguments], stdout=subprocess.DEVNULL)
        wait_for_port(self.port)

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None


@dataclass
class PostgresServer:
    """One PostgreSQL cluster in a temporary folder, owned by `postgres` when the tests run as root."""

    folder: Path
    port: int
    _numbers: Iterator[int] = field(default_factory=count)
    _psql: subprocess.Popen[str] | None = None

    @property
    def process_id(self) -> int:
        """The process id of the postmaster. The server must be running."""
        return int((self.folder / "cluster" / "postmaster.pid").read_text().split()[0])

    def initialise(self) -> None:
        self._run("initdb", "-D", str(self.folder / "cluster"), "-U", "tests", "-A", "trust", "--no-sync")

    def start(self) -> None:
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder / "cluster"), "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "cluster"), "-w", "-m", "immediate", "stop")
        if self._psql:
            self._psql.kill()
            self._psql.communicate()
            self._psql = None

    def name_database(self) -> str:
        """Return the URL for a new database, which does not exist yet."""
        return f"postgresql://tests@127.0.0.1:{self.port}/test_{next(self._numbers)}?sslmode=disable"

    def make_database(self, url: str, template_url: str | None = None) -> None:
        """Create an empty database, or a copy of a database that has no connections."""
        # Copying the files takes half as long as the default strategy, which also writes each page to the
        # log.
        template = f" TEMPLATE {_name_in(template_url)} STRATEGY file_copy" if template_url else ""
        self._tell(f"CREATE DATABASE {_name_in(url)}{template}")

    def create_database(self) -> str:
        """Create an empty database and return its URL."""
        url = self.name_database()
        self.make_database(url)
        return url

    def drop_database(self, url: str) -> None:
        """Drop a database that was created here, even if it still has connections."""
        self._tell(f"DROP DATABASE IF EXISTS {_name_in(url)} WITH (FORCE)")

    def _tell(self, statement: str) -> None:
        """Execute an SQL statement in a psql that keeps running. Starting a psql takes as long as a copy."""
        if not self._psql or self._psql.poll() is not None:
            self._psql = subprocess.Popen(
                [
                    *(find_program("psql"), "-Xqv", "ON_ERROR_STOP=1"),
                    *("-h", "127.0.0.1", "-p", str(self.port), "-U", "tests", "postgres"),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        assert self._psql.stdin
        assert self._psql.stdout
        self._psql.stdin.write(f"{statement};\n\\echo done\n")
        self._psql.stdin.flush()
        if not self._psql.stdout.readline():
            raise RuntimeError(f"PostgreSQL did not do this: {statement}")

    def _run(self, program: str, *arguments: str) -> None:
        executable = find_program(program)
        as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        subprocess.run([*as_user, executable, *arguments], check=True, cwd="/", stdout=subprocess.DEVNULL)


@contextmanager
def running_redis() -> Iterator[RedisServer]:
    server = RedisServer(find_free_port())
    server.start()
    try:
        yield server
    finally:
        server.stop()


Postgres = TypeVar("Postgres", bound=PostgresServer)


def running_postgres() -> AbstractContextManager[PostgresServer]:
    return running_cluster(PostgresServer)


@contextmanager
def running_cluster(kind: type[Postgres]) -> Iterator[Postgres]:
    find_program("initdb")  # before anything needs to be cleaned up
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    server = kind(folder, port=0)
    try:
        server.initialise()
        server.port = find_free_port()  # as late as possible, because another program may take the port
        server.start()
        yield server
    finally:
        if (folder / "cluster" / "postmaster.pid").exists():
            server.stop()
        shutil.rmtree(folder)


def is_empty(url: str) -> bool:
    """Return whether a database has no tables."""
    question = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
    return _ask_for("psql", "-Atc", question, url) == "0\n"


def read_statements(url: str) -> str:
    """Return the SQL statements that recreate a database."""
    return _ask_for("pg_dump", "--no-owner", url)


def fill_database(url: str, statements: str) -> None:
    """Execute SQL statements in a database."""
    _ask_for("psql", "-Xqv", "ON_ERROR_STOP=1", url, told=statements)


def _ask_for(program: str, *arguments: str, told: str = "") -> str:
    command = [find_program(program), *arguments]
    return subprocess.run(command, check=True, input=told, stdout=subprocess.PIPE, text=True).stdout


def _name_in(url: str) -> str:
    return f'"{urlsplit(url).path[1:]}"'


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def wait_for_port(port: int) -> None:
    deadline = time.monotonic() + READY_TIMEOUT_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise TimeoutError(f"nothing listens on port {port}")
