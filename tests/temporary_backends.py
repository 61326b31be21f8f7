"""Backends for one test: a fresh database with every table, opened and active."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import engine_room
from monitoring.backends.assembly import Backends, open_backends
from monitoring.backends.engines.configuration import MODEL_MODULES
from monitoring.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from monitoring.backends.tasks import Task

SIGNING_KEY = "a signing key for tests which is long enough"


def make_settings(folder: Path, **settings: Any) -> Settings:
    """Describe a service with the engines of the folder. The environment is not read."""
    unread = {"_env_prefix": "NOT_READ_BY_TESTS_"}
    engines = engine_room.settings_for(folder)
    return Settings(**{"data_dir": folder, "signing_keys": SIGNING_KEY, **unread, **engines, **settings})


@asynccontextmanager
async def temporary_backends(
    folder: Path,
    *,
    model_modules: Sequence[str] = MODEL_MODULES,
    tasks: Sequence[Task] | None = None,
    **settings: Any,
) -> AsyncIterator[Backends]:
    """Open and activate backends whose database has the tables of the models, made without migrations."""
    opening = open_backends(make_settings(folder, **settings), model_modules=model_modules, tasks=tasks)
    async with opening as backends:
        with backends.activate():
            await backends.database.context.generate_schemas()
            yield backends
