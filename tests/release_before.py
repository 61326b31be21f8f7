"""Creates the database of release 0.1, which is the previous release.

When 0.2 is published, this must become the database of 0.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tortoise.migrations.executor import MigrationExecutor, MigrationTarget

from monitoring.backends.database import open_database, transaction
from monitoring.backends.database_clients.configuration import APP_LABEL, configure_tortoise
from monitoring.backends.tortoise_bridge import make_table_of_migrations

if TYPE_CHECKING:
    from monitoring.settings import Settings

NEWEST_BEFORE = "0002_checks"
FIRST_SINCE = "0003_revoked_tokens"


async def install_release_before(settings: Settings) -> None:
    """Create the previous release's schema in an empty database."""
    async with open_database(settings) as database:
        with database.activate():
            async with transaction() as connection:
                executor = MigrationExecutor(connection, configure_tortoise(settings)["apps"])
                await make_table_of_migrations(executor)
                await executor.migrate([MigrationTarget(APP_LABEL, NEWEST_BEFORE)])


async def pretend_to_be_migrated_by(settings: Settings, *migrations: str) -> None:
    """Record migrations of later releases as applied."""
    async with open_database(settings) as database:
        with database.activate():
            async with transaction() as connection:
                for name in migrations:
                    await connection.execute_query(
                        "INSERT INTO tortoise_migrations (app, name, applied_at)"  # noqa: S608 - ours
                        f" VALUES ('{APP_LABEL}', '{name}', '2027-01-01 00:00:00+00:00')"
                    )
