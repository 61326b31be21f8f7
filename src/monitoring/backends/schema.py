"""Compares models with migrations, and generates the missing migration.

`python -m monitoring.backends.schema add_monitor_tags` writes the next migration.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tortoise.context import TortoiseContext
from tortoise.migrations.autodetector import MigrationAutodetector
from tortoise.migrations.writer import MigrationWriter, format_migration_name

from monitoring.backends.database_clients.configuration import APP_LABEL, MODEL_MODULES, configure_app


async def make_migrations(name: str, model_modules: Sequence[str] = MODEL_MODULES) -> list[Path]:
    """Generate the next migration, `NNNN_name.py`. Returns its path, or an empty list if nothing changed."""
    async with detected_changes(model_modules) as writers:
        for writer in writers:
            writer.name = format_migration_name(int(writer.name.partition("_")[0]), name)
        return [writer.write() for writer in writers]


@asynccontextmanager
async def detected_changes(model_modules: Sequence[str]) -> AsyncIterator[list[MigrationWriter]]:
    """Yield the model changes that no migration contains."""
    apps = {APP_LABEL: configure_app("sqlite", model_modules)}
    async with TortoiseContext() as context:
        await context.init(config={"connections": {"sqlite": "sqlite://:memory:"}, "apps": apps})
        assert context.apps  # noqa: S101 - init has just made them
        yield await MigrationAutodetector(context.apps, apps).changes()


if __name__ == "__main__":
    for path in asyncio.run(make_migrations(sys.argv[1])):
        print(path)  # noqa: T201
