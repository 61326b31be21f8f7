"""`monitoring doctor` checks whether a process of the service could do its work on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import partial
from typing import Annotated, NamedTuple

import typer
from tortoise.exceptions import OperationalError

from monitoring.backends.assembly import Backends, open_backends
from monitoring.backends.errors import BackendUnavailable, describe_error
from monitoring.cli.commands import AsJson, show_rows
from monitoring.monitors.models import Monitor
from monitoring.outbound.icmp_echoes import may_ping
from monitoring.settings import CheckerSettings, Settings, WorkerSettings, read_settings

PATIENCE_SECONDS = 15.0

# A claim lasts fifteen seconds longer than a check, so clocks that differ by much less than that do no harm.
MOST_CLOCK_DIFFERENCE = timedelta(seconds=2)

app = typer.Typer()


class Process(StrEnum):
    """A command that runs as long as the service does."""

    SERVE = "serve"
    WORKER = "worker"
    CHECKER = "checker"


_SETTINGS = {Process.SERVE: Settings, Process.WORKER: WorkerSettings, Process.CHECKER: CheckerSettings}


class _Fault(Exception):  # noqa: N818 - a finding, not an error of the caller
    """A problem, and what to do about it, in one sentence."""


class _Diagnosis(NamedTuple):
    examined: str
    state: str
    """`ok`, `ill` or `not_configured`."""
    finding: str


@app.command()
def doctor(
    process: Annotated[
        Process, typer.Option("--for", help="The command whose settings are examined.")
    ] = Process.SERVE,
    *,
    as_json: AsJson = False,
) -> None:
    """Check settings, database, schema, clock, blog storage, queue and pings.

    Writes a small probe to each backend. Ends with status 1 if there is a problem, and with status 2 if the
    settings are invalid.
    """
    settings = read_settings(_SETTINGS[process])
    diagnoses = asyncio.run(_examine_all(settings, process))
    diagnoses.insert(0, _Diagnosis("settings", "ok", f"monitoring {process} can read them"))
    show_rows([diagnosis._asdict() for diagnosis in diagnoses], as_json=as_json)
    if any(diagnosis.state == "ill" for diagnosis in diagnoses):
        raise typer.Exit(1)


async def _examine_all(settings: Settings, process: Process) -> list[_Diagnosis]:
    async with open_backends(settings, tasks=()) as backends:
        with backends.activate():
            return [
                await _examine("database", _write_a_row, backends),
                await _examine("schema", _compare_schema, backends),
                await _examine("clock", _compare_clocks, backends),
                await _examine("blog_storage", _write_an_object, backends),
                await _examine("queue", partial(_write_a_key, process), backends),
                await _examine("pings", _open_a_socket, backends),
            ]


async def _examine(
    name: str, examine: Callable[[Backends], Awaitable[str | None]], backends: Backends
) -> _Diagnosis:
    """Run one check, and return its diagnosis, even if the check fails in an expected way."""
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            finding = await examine(backends)
    except (_Fault, BackendUnavailable, OperationalError, TimeoutError) as error:
        return _Diagnosis(name, "ill", str(error) if isinstance(error, _Fault) else describe_error(error))
    return _Diagnosis(name, "ok", finding) if finding else _Diagnosis(name, "not_configured", "")


async def _write_a_row(backends: Backends) -> str:
    await backends.database.try_to_write()
    return "a row was written"


async def _compare_schema(backends: Backends) -> str:
    schema = await backends.database.read_schema()
    if schema.pending:
        raise _Fault(f"{len(schema.pending)} migrations are missing: run `monitoring migrate`")
    if schema.is_too_new:
        raise _Fault(f"two releases newer than this one ({', '.join(schema.unknown)}): run a later release")
    if schema.unknown:
        return f"newer than this release, which can run on it ({', '.join(schema.unknown)})"
    return f"at {schema.newest}"


async def _compare_clocks(backends: Backends) -> str:
    """Compare this machine's clock, which sessions use, with the database's clock, which jobs use."""
    if not backends.database.has_clock:
        return "the database is on this machine"
    began_at = datetime.now(UTC)
    now = await backends.database.read_time()
    ended_at = datetime.now(UTC)
    if began_at - MOST_CLOCK_DIFFERENCE <= now <= ended_at + MOST_CLOCK_DIFFERENCE:
        return "agrees with the database's clock"
    seconds = (began_at - now).total_seconds()
    raise _Fault(
        f"{abs(seconds):.0f} s {'ahead of' if seconds > 0 else 'behind'} the database's clock: use NTP "
        "on both machines"
    )


async def _write_an_object(backends: Backends) -> str | None:
    if backends.blog_storage is None:
        return None
    await backends.blog_storage.try_to_write()
    return "an object was written"


async def _write_a_key(process: Process, backends: Backends) -> str | None:
    if backends.settings.redis_url is None:
        if process is not Process.SERVE:
            raise _Fault(f"REDIS_URL is not set: `monitoring serve` does the work of `monitoring {process}`")
        return None
    await backends.queue.try_to_write()
    return "a key was written"


async def _open_a_socket(backends: Backends) -> str | None:
    """Return a sentence if the kernel permits pings. None if pings are disabled or not needed.

    Raises _Fault if there are monitors of type `ping` but the kernel does not permit pings.
    """
    if not backends.settings.ping_monitors:
        return None
    if may_ping():
        return "the kernel allows pings"
    if backends.settings.checks_at_once and await _exists_ping_monitor():
        raise _Fault(
            "the kernel does not allow pings, so monitors of type ping are unknown: set "
            "net.ipv4.ping_group_range"
        )
    return None


async def _exists_ping_monitor() -> bool:
    try:
        return await Monitor.exists(type="ping")
    except OperationalError:  # the table does not exist yet
        return False
