"""`monitoring migrate`, and what other processes demand of the schema."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from monitoring.backends.database import migrate as migrate_database
from monitoring.backends.database import open_database
from monitoring.backends.errors import DatabaseUnavailable
from monitoring.cli.failing import fail

if TYPE_CHECKING:
    from monitoring.settings import Settings


def migrate_now(settings: Settings) -> None:
    """Bring the database to the newest schema, or end the command with status 1 if it is away."""
    try:
        asyncio.run(migrate_database(settings))
    except DatabaseUnavailable as error:
        fail(f"The database is away: {error}")


def demand_migrated_database(settings: Settings) -> None:
    """End the command if the schema is old. A database that is away may come back; readiness says so."""
    with suppress(DatabaseUnavailable):
        if asyncio.run(_find_pending_migrations(settings)):
            fail("The database is not at the newest schema: run `monitoring migrate` first")


async def _find_pending_migrations(settings: Settings) -> list[str]:
    async with open_database(settings) as database:
        return await database.find_pending_migrations()
