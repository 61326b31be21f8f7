"""SQLite for Tortoise: transactions that begin IMMEDIATE, so that several processes can share one file."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from tortoise.backends.base.client import ConnectionWrapper, NestedTransactionContext
from tortoise.backends.sqlite.client import (
    SqliteClient,
    SqliteTransactionContext,
    SqliteTransactionWrapper,
)
from tortoise.connection import get_connections

from monitoring.backends.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tortoise.backends.base.client import TransactionalDBClient, TransactionContext

# Result codes that say nothing about the statement: https://www.sqlite.org/rescode.html
_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}


def _raise_translated(error: object) -> None:
    # An extended result code carries the primary one in its low byte.
    if isinstance(error, sqlite3.Error) and getattr(error, "sqlite_errorcode", 0) & 0xFF in _UNAVAILABLE:
        raise DatabaseUnavailable(str(error)) from error


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        _raise_translated(error)
        raise


class _Connection(ConnectionWrapper[Any]):
    """One statement's hold of the connection. Tortoise's own keeps the lock for ever if opening fails."""

    async def __aenter__(self) -> Any:  # noqa: ANN401
        await self._lock.acquire()
        try:
            with _translated_errors():
                await self.ensure_connection()
        except BaseException:
            self._lock.release()
            raise
        return self.connection

    async def __aexit__(self, *exc_info: object) -> None:
        self._lock.release()
        _raise_translated(exc_info[1])


class _Transaction(SqliteTransactionWrapper):
    def acquire_connection(self) -> ConnectionWrapper[Any]:
        return _Connection(self._lock, self)

    def _in_transaction(self) -> TransactionContext:
        return NestedTransactionContext(_Transaction(self))

    async def begin(self) -> None:
        """Take the write lock now: a read that turns into a write later would fail instead of waiting."""
        with _translated_errors():
            await self._connection.execute("BEGIN IMMEDIATE")

    async def commit(self) -> None:
        """Commit, or undo everything: what was reported as failed must not be committed by the next user."""
        with _translated_errors():
            try:
                await super().commit()
            except sqlite3.Error:
                await self._connection.rollback()
                raise

    async def execute_script(self, query: str) -> None:
        """Run statements one by one: `executescript` would commit the transaction first."""
        for statement in filter(None, map(str.strip, query.split(";"))):
            await self.execute_query(statement)


class _TransactionContext(SqliteTransactionContext):
    async def __aenter__(self) -> TransactionalDBClient:
        """Begin, or leave no trace: neither a failure nor a cancellation keeps the connection locked."""
        await self._trxlock.acquire()
        try:
            with _translated_errors():
                await self.ensure_connection()
            await self.connection.begin()
        except BaseException:
            if self.connection._connection:  # noqa: SLF001
                with suppress(Exception, asyncio.CancelledError):
                    await self.connection._connection.rollback()  # noqa: SLF001
            self._trxlock.release()
            raise
        self.token = get_connections().set(self.connection_name, self.connection)
        return self.connection  # type: ignore[no-any-return]


class Client(SqliteClient):
    """The connection of one process to a database file; statements and transactions take turns on it."""

    def acquire_connection(self) -> ConnectionWrapper[Any]:
        """Hold the connection for one statement."""
        return _Connection(self._lock, self)

    async def execute_many(self, query: str, values: list[list[Any]]) -> None:
        """Do all or nothing: cancelled in the middle, Tortoise's own would leave its transaction open."""
        async with self._in_transaction() as transaction:
            await transaction.execute_many(query, values)

    def _in_transaction(self) -> TransactionContext:
        return _TransactionContext(_Transaction(self), self._lock)


client_class = Client
