"""`monitoring migrate`, and the schema check at the start of other commands."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

import typer
from tortoise.exceptions import OperationalError

from monitoring.backends.database import Schema, open_database
from monitoring.backends.database import migrate as migrate_database
from monitoring.backends.errors import DatabaseUnavailable, TablesInUse
from monitoring.cli.failing import fail
from monitoring.settings import Settings

log = logging.getLogger(__name__)

# Warnings about what must not be done while processes of the previous release are still running. Each key is
# the name of a release's first migration.
_BESIDE_THE_RELEASE_BEFORE = {
    "0003_revoked_tokens": """\
While processes of 0.1 run beside this release:
- do not create monitors with credentials or notification channels: 0.1 sends masked credentials and secrets;
- do not unpublish or delete articles: 0.1 publishes them again.
See "Upgrades" in docs/running.md.""",
}

_ON_SQLITE = (
    "First stop all processes of the previous release: on SQLite, they cannot run alongside this release."
)


def migrate_now(settings: Settings) -> str:
    """Migrate the database to the newest schema, and return a sentence about what was done.

    Warnings are printed before anything changes. If the migration fails, the command ends with status 1 and
    the reason.
    """
    try:
        schema = asyncio.run(_read_schema(settings))
        _demand_known(schema)
        if schema.applied and schema.pending:
            _warn_before(schema, settings)
        asyncio.run(migrate_database(settings))
    except TablesInUse as error:
        fail(
            f"Nothing was changed: other sessions kept the tables in use ({error}). Wait until long "
            "reads, such as a dump, have ended, or stop the processes of the service. Then migrate "
            "again"
        )
    except DatabaseUnavailable as error:
        if error.outage:
            fail(f"Nothing was changed: the database cannot be used ({error})")
        fail(f"Nothing was changed: {error}. If a step needs longer, raise DATABASE_TIMEOUT_SECONDS")
    except OperationalError as error:
        fail(f"Nothing was changed: the database returned an error ({error})")
    if schema.pending:
        return f"Applied {len(schema.pending)} migrations: the schema is at {schema.newest}"
    return f"Nothing to do: the schema is at {max(schema.applied)}"


def demand_migrated_database(settings: Settings) -> None:
    """End the command if the schema is too old or too new. If the database is unavailable, do nothing."""
    with suppress(DatabaseUnavailable):
        schema = asyncio.run(_read_schema(settings))
        if schema.pending:
            fail("The database is not at the newest schema: run `monitoring migrate` first")
        _demand_known(schema)


async def _read_schema(settings: Settings) -> Schema:
    async with open_database(settings) as database:
        return await database.read_schema()


def _demand_known(schema: Schema) -> None:
    """Warn if newer code has migrated the schema. End the command if that code is two releases newer."""
    if not schema.unknown:
        return
    names = ", ".join(schema.unknown)
    if schema.is_too_new:
        fail(
            f"The schema is two releases newer than this release ({names}), and may lack what this "
            "release needs. Run a later release"
        )
    log.warning("The schema is newer than this release (%s): a later release has migrated it", names)


def _warn_before(schema: Schema, settings: Settings) -> None:
    if not settings.is_on_postgresql:
        typer.echo(_ON_SQLITE, err=True)
        return
    for first, warning in _BESIDE_THE_RELEASE_BEFORE.items():
        if first in schema.pending:
            typer.echo(warning, err=True)
