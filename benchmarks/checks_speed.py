"""H3: measures the cost of one check over http and https, including claiming it and storing the result.

Each check uses a new connection.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from urllib.request import urlopen

import trustme

from load import Load, write_request
from monitors_api import migrate
from postgres_and_redis import connecting, execute, fetch
from processor_time import cpu_seconds
from real_servers import find_free_port, wait_for_port
from rounds import Sample, Scenario, take_turns
from seeds import sow
from servers import (
    AS_IN_THE_IMAGE,
    BENCHMARKS,
    BUILD,
    GO_CHECKS,
    IMAGE_PYTHON,
    ONE_CORE,
    PEERS_PYTHON,
    Program,
    running,
    service,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Mapping

    from bench import Bench
    from servers import Server

EXPORTER = BUILD / "blackbox_exporter" / "usr" / "bin" / "prometheus-blackbox-exporter"
GO = "Go's client, without storing"
CHECKS_A_SECOND_OF_EFFORT = 1000
AT_ONCE = 50
TIMEOUT_SECONDS = 120.0
COUNT_CHECKED = "SELECT count(*) FROM watches WHERE last_checked_at > $1"

MODULES = """
modules:
  http_2xx:
    prober: http
    http:
      preferred_ip_protocol: ip4
"""


@dataclass(frozen=True)
class Checked:
    """The server that all programs check."""

    pid: int
    ports: Mapping[str, int]
    ca_file: Path

    def url(self, scheme: str) -> str:
        """Return the server's URL for a scheme."""
        return f"{scheme}://127.0.0.1:{self.ports[scheme]}/health"


def measure_checks(bench: Bench) -> list[Scenario]:
    """Measure checks over http and over https."""
    count = round(bench.effort.seconds * CHECKS_A_SECOND_OF_EFFORT)
    with running_checked() as checked:
        return [_measure(bench, checked, scheme, count) for scheme in ("http", "https")]


def _measure(bench: Bench, checked: Checked, scheme: str, count: int) -> Scenario:
    postgres = bench.backends.postgres
    storing = ("service", "httpx loop + SQLAlchemy")
    databases = {name: postgres.create(f"{scheme}_{number}") for number, name in enumerate(storing)}
    for database in databases.values():
        asyncio.run(_furnish(database, checked.url(scheme), count))
    with ExitStack() as stack:
        programs = {
            name: _httpx_loop(database, checked) if "httpx" in name else _checker(bench, database, checked)
            for name, database in databases.items()
        }
        programs["service"] = _as_in_the_image(programs["service"], scheme)
        servers = {
            name: stack.enter_context(running(program, listens=False)) for name, program in programs.items()
        }
        exporter, port = _start_exporter(stack, checked)
        go = stack.enter_context(running(_go_client(checked))) if GO_CHECKS.exists() else None

        def run(name: str) -> Sample:
            if name == "blackbox_exporter":
                return _probe(bench, exporter, port, checked.url(scheme), count)
            if go and name == GO:
                return _check_in_go(go, checked.url(scheme), count)
            return asyncio.run(_let_check(bench, servers[name], databases[name], count))

        names = ["service", "blackbox_exporter", *storing[1:], *([GO] if go else [])]
        samples = take_turns(names, bench.effort.rounds, run)
    for database in databases.values():
        postgres.drop_database(database)
    return Scenario(f"check_{scheme}", f"One check, {scheme}", samples)


@contextmanager
def running_checked() -> Iterator[Checked]:
    """Start the server with a certificate of a temporary authority."""
    authority = trustme.CA()
    certificate, ca_file = BUILD / "checked.pem", BUILD / "authorities.pem"
    authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(certificate))
    system = Path(ssl.get_default_verify_paths().openssl_cafile)
    ca_file.write_bytes((system.read_bytes() if system.exists() else b"") + authority.cert_pem.bytes())
    command = (sys.executable, str(BENCHMARKS / "checked_server.py"), str(certificate))
    with running(Program("checked", command)) as server:
        told = re.findall(r"(https) on http://127.0.0.1:(\d+)", (BUILD / "logs" / "checked.log").read_text())
        yield Checked(server.pid, {"http": server.port, **{name: int(port) for name, port in told}}, ca_file)


@contextmanager
def checking_service(
    bench: Bench, checked: Checked, scheme: str
) -> Iterator[Callable[[], Coroutine[None, None, Sample]]]:
    """Start a checker with its monitors. Yield a function that checks all of them once."""
    count = round(bench.effort.seconds * CHECKS_A_SECOND_OF_EFFORT)
    database = bench.backends.postgres.create("checked_by_service")
    asyncio.run(_furnish(database, checked.url(scheme), count))
    with running(_as_in_the_image(_checker(bench, database, checked), scheme), listens=False) as server:
        yield lambda: _let_check(bench, server, database, count)
    bench.backends.postgres.drop_database(database)


async def _let_check(bench: Bench, server: Server, database: str, count: int) -> Sample:
    """Make every monitor due, and wait until each has been checked and the result is stored."""
    postgres = bench.backends.postgres.process_id
    await execute(database, "VACUUM watches", "TRUNCATE checks")
    since = (await fetch(database, "SELECT now() AS now"))[0]["now"]
    async with connecting(database) as connection:
        async with connection.transaction():
            await connection.execute("UPDATE watches SET due_at = now(), claim = NULL")
            # The monitors become due at the commit. The cost of making them due is not part of a check.
            began_at, before = time.perf_counter(), (server.cpu_seconds(), cpu_seconds(postgres))
        while await connection.fetchval(COUNT_CHECKED, since) < count:
            if time.perf_counter() - began_at > TIMEOUT_SECONDS:
                raise RuntimeError(f"{server.name} did not check everything")
            await asyncio.sleep(0.1)
        elapsed = time.perf_counter() - began_at
        spent = server.cpu_seconds() - before[0], cpu_seconds(postgres) - before[1]
    outcomes = await fetch(database, "SELECT outcome, count(*) AS count FROM checks GROUP BY 1")
    if [row["outcome"] for row in outcomes] != ["up"]:
        raise RuntimeError(f"{server.name} found {outcomes}")
    stored = outcomes[0]["count"]  # a monitor or two may also have been due by schedule
    application, database_us = (seconds / stored * 1e6 for seconds in spent)
    return Sample(application_us=application, postgres_us=database_us, per_second=stored / elapsed)


def _probe(bench: Bench, exporter: Server, port: int, url: str, count: int) -> Sample:
    request = write_request("GET", f"/probe?module=http_2xx&target={url}")
    load = Load([port], [request], (500, 50_000), AT_ONCE, count=count, expected="\nprobe_success 1\n")
    return bench.sample(load, exporter)


async def _furnish(database: str, url: str, count: int) -> None:
    """Insert monitors of the server. During the run, none becomes due by its schedule."""
    migrate(f"{database}?sslmode=disable")
    await sow(database, monitors_a_team=count, teams=1)
    await execute(
        database,
        f"UPDATE monitors SET url = '{url}', request_headers = '{{}}', required_keyword = NULL,"  # noqa: S608
        " interval_seconds = 300",
        "UPDATE watches SET due_at = now() + interval '1 day'",
        "CREATE TABLE checks_of_any_day PARTITION OF checks DEFAULT",
        "VACUUM ANALYZE",
    )


def _checker(bench: Bench, database: str, checked: Checked) -> Program:
    at_once = dict.fromkeys(("CHECKS_AT_ONCE", "CHECKS_PER_TEAM", "CHECKS_PER_HOST"), "200")
    return service(
        "checker",
        DATABASE_URL=f"{database}?sslmode=disable",
        REDIS_URL=bench.backends.redis.new_database(),
        ALLOWED_NETWORKS="127.0.0.1/32",
        CA_FILE=str(checked.ca_file),
        REFERENCE_URLS=checked.url("http"),
        **at_once,
    )


def _as_in_the_image(program: Program, scheme: str) -> Program:
    """Return the program with the image's OpenSSL, if it uses TLS and the image could be unpacked."""
    if scheme == "http" or not IMAGE_PYTHON.exists():
        return program
    return replace(program, environment={**program.environment, **AS_IN_THE_IMAGE}).under(IMAGE_PYTHON)


def _httpx_loop(database: str, checked: Checked) -> Program:
    command = (str(PEERS_PYTHON), str(BENCHMARKS / "peers" / "httpx_checks.py"))
    return Program("httpx loop", command, {"DATABASE_URL": database, "CA_FILE": str(checked.ca_file)})


def _go_client(checked: Checked) -> Program:
    return Program("Go checks", (str(GO_CHECKS),), {"CA_FILE": str(checked.ca_file), **ONE_CORE})


def _check_in_go(go: Server, url: str, count: int) -> Sample:
    """Measure checks by a Go program, which responds when all checks are done, and stores nothing."""
    query = urlencode({"url": url, "count": count})
    began_at, before = time.perf_counter(), go.cpu_seconds()
    urlopen(f"http://127.0.0.1:{go.port}/checks?{query}").close()
    spent, elapsed = go.cpu_seconds() - before, time.perf_counter() - began_at
    return Sample(application_us=spent / count * 1e6, per_second=count / elapsed)


def _start_exporter(stack: ExitStack, checked: Checked) -> tuple[Server, int]:
    configuration = BUILD / "blackbox.yml"
    configuration.write_text(MODULES)
    port = find_free_port()
    options = (
        f"--config.file={configuration}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=error",
    )
    # Read the system's authorities once, and not for every check.
    environment = {"SSL_CERT_FILE": str(checked.ca_file)}
    program = Program("blackbox_exporter", (str(EXPORTER), *options), environment)
    exporter = stack.enter_context(running(program, listens=False))
    wait_for_port(port)
    return exporter, port
