"""What is taken for granted about Tortoise 1.1 and asyncpg, undocumented: an upgrade fails here first."""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from importlib.metadata import version
from typing import TYPE_CHECKING

import asyncpg  # type: ignore[import-untyped]
import pytest
from tortoise import context
from tortoise.backends.asyncpg.client import AsyncpgDBClient, TransactionWrapper
from tortoise.backends.base.client import (
    ConnectionWrapper,
    NestedTransactionContext,
    PoolConnectionWrapper,
    TransactionContextPooled,
)
from tortoise.backends.sqlite.client import SqliteClient, SqliteTransactionContext, SqliteTransactionWrapper
from tortoise.migrations.executor import MigrationExecutor
from tortoise.migrations.recorder import MigrationRecorder
from tortoise.models import Model

from backends.garden_models import Bed
from monitoring.backends.tortoise_bridge import columns_of, field_of, note_saved, table_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from real_servers import PostgresServer

pytestmark = pytest.mark.anyio


def names_in(function: object) -> str:
    return inspect.getsource(function)  # type: ignore[arg-type]


def test_the_version_is_the_one_these_assumptions_were_read_from() -> None:
    assert version("tortoise-orm").startswith("1.1.")


class TestModels:
    def test_tell_their_table_and_their_columns(self) -> None:
        assert (table_of(Bed), columns_of(Bed)) == ("beds", ["id", "name", "free_places"])
        assert field_of(Bed, "name").required

    def test_know_that_they_are_saved(self) -> None:
        row = Bed(name="south")
        assert not row._saved_in_db  # noqa: SLF001
        note_saved(row)
        assert row._saved_in_db  # noqa: SLF001
        assert "_saved_in_db" in names_in(Model.save)

    def test_find_their_database_by_a_context_variable(self) -> None:
        assert isinstance(context._current_context, ContextVar)  # noqa: SLF001


def test_a_migration_takes_an_editor_of_the_executor() -> None:
    assert "atomic" in inspect.signature(MigrationExecutor._schema_editor).parameters  # noqa: SLF001


def test_applied_migrations_are_in_a_table_of_this_name() -> None:
    named = inspect.signature(MigrationRecorder.__init__).parameters["table_name"]
    assert named.default == "tortoise_migrations"


class TestPostgresClient:
    def test_opens_its_pool_under_a_lock_by_a_method_of_its_own(self) -> None:
        assert "async with self._pool_init_lock" in names_in(PoolConnectionWrapper.ensure_connection)
        assert "self._pool = await self.create_pool(" in names_in(AsyncpgDBClient.create_connection)

    def test_keeps_its_parent_its_connection_and_a_lock_in_a_transaction(self) -> None:
        source = names_in(TransactionWrapper.__init__)
        assert all(f"self.{name}" in source for name in ("_parent", "_connection", "_lock"))
        assert list(inspect.signature(ConnectionWrapper.__init__).parameters) == ["self", "lock", "client"]
        assert list(inspect.signature(NestedTransactionContext.__init__).parameters) == ["self", "client"]

    def test_ends_a_transaction_before_it_gives_the_connection_back_and_resets_the_token(self) -> None:
        source = names_in(TransactionContextPooled.__aexit__)
        steps = [
            "self.client.commit()",
            "self.client._parent._pool.release(self.client._connection)",
            "get_connections().reset(self.token)",
        ]
        assert [source.index(step) for step in steps] == sorted(source.index(step) for step in steps)


class TestSqliteClient:
    def test_holds_its_connection_under_one_lock(self) -> None:
        assert "ConnectionWrapper(self._lock, self)" in names_in(SqliteClient.acquire_connection)
        assert "(SqliteTransactionWrapper(self), self._lock)" in names_in(SqliteClient._in_transaction)  # noqa: SLF001
        assert "self._trxlock.release()" in names_in(SqliteTransactionContext.__aexit__)
        assert "self._connection.commit()" in names_in(SqliteTransactionWrapper.commit)


@pytest.mark.production("PostgreSQL only")
class TestAsyncpg:
    """Documented names, but not all of what they do is."""

    @pytest.fixture
    async def pool(self, server: PostgresServer) -> AsyncIterator[asyncpg.Pool]:
        async with asyncpg.create_pool(server.create_database(), min_size=1, max_size=1) as pool:
            yield pool

    async def test_a_terminated_connection_frees_its_place_and_may_be_given_back(
        self, pool: asyncpg.Pool
    ) -> None:
        connection = await pool.acquire()
        connection.terminate()
        await pool.release(connection)
        with pytest.raises(asyncpg.InterfaceError):
            connection.terminate()
        assert await pool.fetchval("SELECT 1", timeout=5) == 1

    async def test_many_rows_are_all_or_nothing_without_a_transaction(self, pool: asyncpg.Pool) -> None:
        await pool.execute("CREATE TABLE numbers (number int PRIMARY KEY)")
        with pytest.raises(asyncpg.UniqueViolationError):
            await pool.executemany("INSERT INTO numbers VALUES ($1)", [(1,), (2,), (1,)])
        assert await pool.fetchval("SELECT count(*) FROM numbers") == 0
