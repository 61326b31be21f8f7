from __future__ import annotations

import asyncio
import importlib
import pkgutil
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import TYPE_CHECKING

import pytest
from tortoise.exceptions import IntegrityError

from backends.garden_models import Bed, Plant
from monitoring.auth.service import create_team
from monitoring.backends import migrations
from monitoring.backends.assembly import open_backends
from monitoring.backends.database import migrate, transaction
from monitoring.backends.database_clients import configuration
from monitoring.backends.schema import detected_changes, make_migrations
from monitoring.contract.configurations import read_defaults
from monitoring.notifications.configuration import configuration_of
from monitoring.notifications.models import NotificationChannel, NotificationDelivery
from monitoring.notifications.service import create_channel
from temporary_backends import make_settings, temporary_backends

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from monitoring.settings import Settings

pytestmark = pytest.mark.anyio
GARDEN = ("backends.garden_models",)


async def find_model_changes(model_modules: Sequence[str]) -> list[str]:
    async with detected_changes(model_modules) as writers:
        return [writer.as_string() for writer in writers]


@pytest.fixture
def garden_migrations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the garden's migrations in their own package."""
    name = f"garden_migrations_{tmp_path.name}"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(configuration, "MIGRATIONS_PACKAGE", name)


# Tortoise keeps a connection's name on the model, so this process's services would look for SQLite.
@pytest.mark.embedded("models are compared as SQLite's, whatever the engine")
async def test_the_rooms_models_and_their_migrations_agree() -> None:
    assert await find_model_changes(configuration.MODEL_MODULES) == []


def test_the_first_migration_of_a_release_says_that_it_begins() -> None:
    """Older code counts these, to refuse a schema of two releases later. 0.2 came before this rule."""
    names = [module.name for module in pkgutil.iter_modules(migrations.__path__)]
    begun = {
        (int(major), int(minor)) for major, minor in re.findall(r"_begin_(\d+)_(\d+)\b", " ".join(names))
    }
    major, minor = map(int, version("monitoring-service").split(".")[:2])
    assert (major, minor) == (0, 2) or (major, minor) in begun


async def test_no_model_relies_on_constraints_that_tortoise_forgets(tmp_path: Path) -> None:
    # Tortoise 1.1.9 silently drops `Meta.constraints` of a new table. Until it creates them, a partial unique
    # index is written into the migration by hand, as `RunSQL`.
    async with open_backends(make_settings(tmp_path), tasks=()) as backends:
        assert backends.database.context.apps
        models = backends.database.context.apps.get_models_iterable()
        assert [model.__name__ for model in models if model._meta.constraints] == []  # noqa: SLF001


@pytest.mark.embedded(
    "there Tortoise rebuilds a table to alter it, which drops indexes and, by cascade, rows"
)
async def test_no_migration_loses_an_index_of_the_models(tmp_path: Path) -> None:
    async with temporary_backends(tmp_path, tasks=()) as backends:
        assert backends.database.context.apps
        models = backends.database.context.apps.get_models_iterable()
        declared = {
            (model._meta.db_table, fields)  # noqa: SLF001
            for model in models
            for fields in model._meta.indexes  # noqa: SLF001
            if isinstance(fields, tuple)
        }
        rows = await backends.database.context.db().execute_query_dict(
            "SELECT tbl_name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        )
    made = {(row["tbl_name"], tuple(re.findall(r'"(\w+)"', row["sql"].rpartition("(")[2]))) for row in rows}
    assert ("notification_channels", ("team_id", "id")) in declared
    assert declared <= made


@pytest.mark.usefixtures("garden_migrations")
class TestMigrate:
    async def test_models_need_nothing_more_once_their_migration_is_written(self) -> None:
        [path] = await make_migrations("first_garden", GARDEN)
        importlib.invalidate_caches()
        assert path.name == "0001_first_garden.py"
        assert await find_model_changes(GARDEN) == []

    async def test_it_makes_tables_with_every_kind_of_constraint(self, tmp_path: Path) -> None:
        settings = await _migrated_settings(tmp_path)
        async with open_backends(settings, model_modules=GARDEN, tasks=()) as backends:
            with backends.activate():
                bed = await Bed.create(name="south")
                await Plant.create(bed=bed, species="rose", status="blooming")
                await Plant.create(bed=bed, species="tulip")
                with pytest.raises(IntegrityError):  # unique_together
                    await Plant.create(bed=bed, species="tulip")
                with pytest.raises(IntegrityError):  # foreign key
                    await Plant.create(bed_id="0197f0a0-0000-7000-8000-000000000000", species="rose")

    async def test_a_second_start_finds_nothing_to_do(self, tmp_path: Path) -> None:
        settings = await _migrated_settings(tmp_path)
        assert await migrate(settings, GARDEN) == []

    async def test_starts_at_the_same_moment_apply_each_migration_once(self, tmp_path: Path) -> None:
        await make_migrations("first_garden", GARDEN)
        importlib.invalidate_caches()
        settings = make_settings(tmp_path)

        def start(_: int) -> list[str]:
            return asyncio.run(migrate(settings, GARDEN))

        with ThreadPoolExecutor(4) as threads:
            applied = await asyncio.to_thread(lambda: list(threads.map(start, range(4))))
        assert sorted(applied) == [[], [], [], ["0001_first_garden"]]

    async def test_a_migration_that_fails_leaves_nothing_behind(self, tmp_path: Path) -> None:
        [path] = await make_migrations("first_garden", GARDEN)
        path.write_text(path.read_text().replace("'table': 'plants'", "'table': 'beds'"))
        importlib.invalidate_caches()
        settings = make_settings(tmp_path)
        with pytest.raises(Exception, match="beds"):
            await migrate(settings, GARDEN)
        path.unlink()
        sys.modules.pop(f"{configuration.MIGRATIONS_PACKAGE}.{path.stem}")
        await make_migrations("second_garden", GARDEN)
        importlib.invalidate_caches()
        assert await migrate(settings, GARDEN) == ["0001_second_garden"]


async def _migrated_settings(folder: Path) -> Settings:
    await make_migrations("first_garden", GARDEN)
    importlib.invalidate_caches()
    settings = make_settings(folder)
    assert await migrate(settings, GARDEN) == ["0001_first_garden"]
    return settings


async def test_what_was_a_webhook_is_a_channel(tmp_path: Path) -> None:
    """The columns that are new say so of rows that lack them."""
    async with temporary_backends(tmp_path) as backends:
        team = await create_team("Acme", "free", 10)
        address = "https://a.example/"
        events = ["incident.opened"]
        webhook = await create_channel(team.id, {"type": "webhook", "url": address, "events": events})
        connection = backends.database.context.db()
        await NotificationChannel.filter(id=webhook.id).update(name="Old")
        await connection.execute_script(
            "CREATE TABLE kept AS SELECT * FROM notification_channels;"
            " DELETE FROM notification_channels;"
            " INSERT INTO notification_channels"
            " (id, team_id, name, url, events, enabled, secret, created_at, updated_at)"
            " SELECT id, team_id, name, url, events, enabled, secret, created_at, updated_at FROM kept;"
        )
        assert configuration_of(await NotificationChannel.get(name="Old")) == {
            "type": "webhook",
            "name": "Old",
            "url": address,
            "events": events,
            "routing": read_defaults("NotificationRoutingCreate"),
            "enabled": True,
        }


@pytest.mark.production("on SQLite there is one process, which is replaced as a whole")
async def test_processes_of_the_release_before_still_notify_webhooks(tmp_path: Path) -> None:
    """They know `notification_webhooks`, and the column `webhook_id` of deliveries. Drop this with both."""
    async with temporary_backends(tmp_path) as backends:
        team = await create_team("Acme", "free", 10)
        url = "https://a.example/"
        webhook = await create_channel(team.id, {"type": "webhook", "url": url})
        await create_channel(team.id, {"type": "slack", "url": url})
        connection = backends.database.context.db()
        async with transaction():
            rows = await connection.execute_query_dict(
                "SELECT id FROM notification_webhooks WHERE team_id = $1 FOR KEY SHARE", [team.id]
            )
            assert [row["id"] for row in rows] == [webhook.id]
            for column in ("webhook_id", "channel_id"):
                await connection.execute_query(
                    f"INSERT INTO notification_deliveries"  # noqa: S608 - ours
                    f" (id, {column}, event, payload, status, attempts, created_at)"
                    " VALUES (gen_random_uuid(), $1, 'test', '{}', 'pending', 0, now())",
                    [webhook.id],
                )
        assert await NotificationDelivery.filter(channel_id=webhook.id).count() == 2
        told = "SELECT count(*) AS told FROM notification_deliveries WHERE webhook_id = $1"
        assert (await connection.execute_query_dict(told, [webhook.id]))[0]["told"] == 2
        await connection.execute_query(
            "INSERT INTO notification_webhooks"
            " (id, team_id, name, url, events, enabled, secret, created_at, updated_at)"
            " VALUES (gen_random_uuid(), $1, 'Old', $2, '[]', true, 's', now(), now())",
            [team.id, url],
        )
        assert (await NotificationChannel.get(name="Old")).type == "webhook"
