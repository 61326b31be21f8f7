"""SQLite for Tortoise, with BEGIN IMMEDIATE, so that several processes can share one file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, ClassVar, cast

from tortoise.backends.base.client import (
    BaseDBAsyncClient,
    ConnectionWrapper,
    NestedTransactionContext,
    TransactionalDBClient,
    TransactionContext,
)
from tortoise.backends.sqlite.client import (
    SqliteClient,
    SqliteTransactionContext,
    SqliteTransactionWrapper,
)
from tortoise.connection import get_connections

from monitoring.backends.errors import DatabaseUnavailable
from monitoring.backends.outage import Outage, outage_of

# Result codes that do not depend on the statement: https://www.sqlite.org/rescode.html
_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}


OPENING_PAUSES_SECONDS = (0.01, 0.03, 0.1, 0.3, 1.0)


def _outage_of(client: BaseDBAsyncClient) -> Outage:
    return cast("_NumberedParameters", client).outage


def _raise_translated(error: object, outage: Outage) -> None:
    if not isinstance(error, sqlite3.Error):
        return
    primary_code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the low byte of an extended code
    if primary_code in _UNAVAILABLE:
        outage.begin(error, refuses_writes=True)  # reads succeed despite a full disk or a lock
        raise DatabaseUnavailable(str(error), outage) from error


@contextmanager
def _translated_errors(outage: Outage) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        _raise_translated(error, outage)
        raise


class _Connection(ConnectionWrapper[Any]):
    """Locks the connection for one statement. Unlike Tortoise's class, releases the lock if opening fails."""

    async def __aenter__(self) -> Any:  # noqa: ANN401
        await self._lock.acquire()
        try:
            with _translated_errors(_outage_of(self.client)):
                await self.ensure_connection()
        except BaseException:
            self._lock.release()
            raise
        return self.connection

    async def __aexit__(self, *exc_info: object) -> None:
        self._lock.release()
        _raise_translated(exc_info[1], _outage_of(self.client))


class _NumberedParameters(SqliteClient):
    """Passes the values of numbered parameters (`?1`) by name, as the sqlite3 module requires.

    If such values are passed as a sequence, Python 3.14 raises an error, and Python 3.12 warns about each
    value.
    """

    @cached_property
    def outage(self) -> Outage:
        """The database file's outage state, which all clients in this process share."""
        return outage_of(f"The database in {self.filename}")

    async def execute_query(
        self, query: str, values: list[Any] | None = None
    ) -> tuple[int, Sequence[dict[Any, Any]]]:
        """Run a statement, and return the number of changed or found rows, and the rows found."""
        found: tuple[int, Sequence[dict[Any, Any]]]
        found = await super().execute_query(query, _number(query, values))
        return found

    async def execute_query_dict(self, query: str, values: list[Any] | None = None) -> list[dict[str, Any]]:
        """Run a statement, and return its rows as dictionaries by column name."""
        rows: list[dict[str, Any]] = await super().execute_query_dict(query, _number(query, values))
        return rows


def _number(query: str, values: list[Any] | None) -> Any:  # noqa: ANN401 - Tortoise knows lists only
    if not values or "?1" not in query:
        return values
    return {str(number): value for number, value in enumerate(values, start=1)}


class _Transaction(_NumberedParameters, SqliteTransactionWrapper):
    @property
    def outage(self) -> Outage:
        return _outage_of(self._parent)

    def acquire_connection(self) -> ConnectionWrapper[Any]:
        return _Connection(self._lock, self)

    def _in_transaction(self) -> TransactionContext:
        return NestedTransactionContext(type(self)(self))

    async def begin(self) -> None:
        """Acquire the write lock now, because upgrading a read lock later would fail instead of waiting."""
        with _translated_errors(self.outage):
            await self._connection.execute("BEGIN IMMEDIATE")

    async def commit(self) -> None:
        """Commit. If that fails, roll back, so that the next transaction cannot commit the failed one."""
        with _translated_errors(self.outage):
            try:
                await super().commit()
            except sqlite3.Error:
                await self._connection.rollback()
                raise

    async def execute_many(self, query: str, values: list[list[Any]]) -> None:
        """Run a statement once for each row of values."""
        await super().execute_many(query, [_number(query, row) for row in values])

    async def execute_script(self, query: str) -> None:
        """Run the statements one by one, because `executescript` would first commit the transaction."""
        for statement in filter(None, map(str.strip, query.split(";"))):
            await self.execute_query(statement)


class _TransactionContext(SqliteTransactionContext):
    async def __aenter__(self) -> TransactionalDBClient:
        """Begin a transaction. On failure or cancellation, unlock the connection."""
        await self._trxlock.acquire()
        try:
            with _translated_errors(self.connection.outage):
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


class Client(_NumberedParameters):
    """A process's only connection to a database file. Statements and transactions take turns using it."""

    transaction_class: ClassVar[type[_Transaction]] = _Transaction

    async def create_connection(self, with_db: bool) -> None:  # noqa: FBT001 - Tortoise's
        """Open the file, retrying while it is busy. Raises `sqlite3.Error`, leaving no half-open connection.

        While another process switches a new file to WAL mode, SQLite fails without waiting.
        """
        for pause_seconds in (*OPENING_PAUSES_SECONDS, None):
            try:
                await super().create_connection(with_db)
            except sqlite3.Error as error:
                await self.close()
                if pause_seconds is None or error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    raise
                await asyncio.sleep(pause_seconds)
            else:
                return

    def acquire_connection(self) -> ConnectionWrapper[Any]:
        """Return a context that locks the connection for one statement."""
        return _Connection(self._lock, self)

    async def execute_many(self, query: str, values: list[list[Any]]) -> None:
        """Execute a statement for all rows of `values`, or for none if it fails.

        Tortoise's own method leaves a transaction open if it is cancelled.
        """
        async with self._in_transaction() as transaction:
            await transaction.execute_many(query, values)

    def _in_transaction(self) -> TransactionContext:
        return _TransactionContext(self.transaction_class(self), self._lock)


client_class = Client
