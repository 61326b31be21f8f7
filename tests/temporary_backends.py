"""Opens backends for one test: a fresh, active database with all tables."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import chosen_backends
from monitoring.backends.assembly import Backends, open_backends
from monitoring.backends.database_clients.configuration import MODEL_MODULES
from monitoring.settings import Settings
from ready_tables import make_tables

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from pydantic_settings import PydanticBaseSettingsSource

    from monitoring.backends.tasks import Task

ENCRYPTION_KEY = "YSBrZXkgdGhhdCBlbmNyeXB0cyBpbiB0aGUgdGVzdHM="
SIGNING_KEY = "a signing key for tests which is long enough"

# Tests that need checks enable them. No names outside this machine are resolved.
NO_CHECKS = {"checks_at_once": 0, "dns_servers": ("127.0.0.1:1",)}


def make_settings(folder: Path, **settings: Any) -> Settings:
    """Return settings for a service with the backends of the folder, which are empty.

    The environment is not read.
    """
    described = _describe(folder, **settings)
    chosen_backends.make_database(described.database_url.get_secret_value())
    return described


@asynccontextmanager
async def temporary_backends(
    folder: Path,
    *,
    model_modules: Sequence[str] = MODEL_MODULES,
    tasks: Sequence[Task] | None = None,
    **settings: Any,
) -> AsyncIterator[Backends]:
    """Open and activate migrated backends.

    The tables of a test's own models are created without migrations.
    """
    if model_modules is MODEL_MODULES:
        described = _describe(folder, **settings)
        make_tables(described)
    else:
        described = make_settings(folder, **settings)
    async with open_backends(described, model_modules=model_modules, tasks=tasks) as backends:
        with backends.activate():
            if model_modules is not MODEL_MODULES:
                await backends.database.context.generate_schemas()
            yield backends


class GivenSettings(Settings):
    """Settings from arguments alone. Looking for others in the environment would take milliseconds."""

    @classmethod
    def settings_customise_sources(cls, *_: Any, **sources: Any) -> tuple[PydanticBaseSettingsSource]:
        return (sources["init_settings"],)


def _describe(folder: Path, **settings: Any) -> Settings:
    backends = chosen_backends.settings_for(folder)
    defaults = {
        "data_dir": folder,
        "signing_keys": SIGNING_KEY,
        "encryption_keys": ENCRYPTION_KEY,
        **NO_CHECKS,
    }
    return GivenSettings(**{**defaults, **backends, **settings})
