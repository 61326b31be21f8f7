"""PostgreSQL for Tortoise: bounded waits, errors that mean something, no connection lost from the pool."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import asyncpg  # type: ignore[import-untyped]
from tortoise.backends.asyncpg.client import AsyncpgDBClient, TransactionWrapper
from tortoise.backends.base.client import (
    ConnectionWrapper,
    NestedTransactionContext,
    PoolConnectionWrapper,
    TransactionContextPooled,
)
from tortoise.backends.base_postgres.client import translate_exceptions
from tortoise.connection import get_connections
from tortoise.exceptions import DBConnectionError

from monitoring.backends.errors import DatabaseUnavailable, TransactionConflict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence

    from tortoise.backends.base.client import TransactionalDBClient, TransactionContext

_UNAVAILABLE = (
    OSError,  # refused, reset, no route; TimeoutError is one too
    DBConnectionError,
    asyncpg.InternalClientError,  # the connection was lost in the middle of an exchange
    asyncpg.InterfaceError,  # the connection is gone, or the pool is closing
    asyncpg.PostgresConnectionError,
    asyncpg.InsufficientResourcesError,  # too many connections, disk full
    asyncpg.OperatorInterventionError,  # shutting down, starting up, statement timeout
    asyncpg.InvalidCatalogNameError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.LockNotAvailableError,
    asyncpg.ReadOnlySQLTransactionError,  # a primary that became a standby
)


def _raise_translated(error: object, connection: Any = None) -> None:  # noqa: ANN401 - asyncpg is untyped
    is_silent = isinstance(error, TimeoutError | asyncpg.InternalClientError)
    if is_silent and connection and connection._con:  # noqa: SLF001 - asyncpg's: None once it is terminated
        # The server has let its own timeout pass: whoever gave the connection back would wait for it again.
        connection.terminate()
    if isinstance(error, asyncpg.TransactionRollbackError):  # serialization failure, deadlock
        raise TransactionConflict(str(error)) from error
    if isinstance(error, _UNAVAILABLE):
        raise DatabaseUnavailable(f"{type(error).__name__}: {error}") from error


@contextmanager
def _translated_errors(connection: Any = None) -> Iterator[None]:  # noqa: ANN401
    try:
        yield
    except Exception as error:
        _raise_translated(error, connection)
        raise


async def _reset(connection: asyncpg.Connection) -> None:
    """Clean a connection only when it needs it: a round trip less for every statement.

    Safe as long as nobody leaves session state behind (SET, LISTEN, session advisory locks).
    """
    if connection.is_in_transaction():
        await connection.reset()


async def _borrow(client: Any, ensure_pool: Callable[[], Awaitable[None]]) -> Any:  # noqa: ANN401
    """Return a connection. Waiting for a free one takes no longer than opening one may."""
    timeout_seconds = client.extra["timeout"]
    with _translated_errors():
        if not client._pool:  # noqa: SLF001 - Tortoise's, here and below
            async with asyncio.timeout(timeout_seconds):  # or callers queue here, and fail one by one
                await ensure_pool()
        return await client._pool.acquire(timeout=timeout_seconds)  # noqa: SLF001


async def _give_back(connection: Any) -> None:  # noqa: ANN401
    """Let the pool have a connection again, unless it was terminated and the pool knows.

    `Pool.release` does the same in a task, which costs more than a small statement, to spare a connection
    whose borrower is cancelled while it is reset or closed. Here such a connection is lost, its place is not;
    a statement that was just being cancelled on it may run on until the statement timeout.
    """
    if connection._con is not None:  # noqa: SLF001 - asyncpg's, here and below
        connection._con._on_release()  # noqa: SLF001
        await connection._holder.release(connection._holder._timeout)  # noqa: SLF001


@contextmanager
def _cancelled_first(cause: object) -> Iterator[None]:
    """Tidy up after a statement or a transaction; an outage does not take the place of its cancellation."""
    try:
        yield
    except DatabaseUnavailable:
        if not isinstance(cause, asyncio.CancelledError):
            raise


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Await work that must not be left half done: a cancellation is raised only when it has ended."""
    working = asyncio.ensure_future(work)
    cancellation: asyncio.CancelledError | None = None
    while not working.done():
        try:
            await asyncio.wait([working])
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation:
        raise cancellation from (None if working.cancelled() else working.exception())
    working.result()


@translate_exceptions
async def _execute_many(client: AsyncpgDBClient, query: str, values: Sequence[Sequence[object]]) -> None:
    """Do all or nothing. asyncpg does so by itself: no transaction is begun, none can be left open."""
    async with client.acquire_connection() as connection:
        client.log.debug("%s: %s", query, values)
        # Cancelled while the socket takes no more, asyncpg would wait for an answer to what it has not sent.
        await _to_its_end(_send_many(connection, query, values))


async def _send_many(connection: Any, query: str, values: Sequence[Sequence[object]]) -> None:  # noqa: ANN401
    with _translated_errors(connection):
        await connection.executemany(query, values)


class _PooledConnection(PoolConnectionWrapper[Any]):
    async def __aenter__(self) -> Any:  # noqa: ANN401
        self.connection = await _borrow(self.client, self.ensure_connection)
        return self.connection

    async def __aexit__(self, *exc_info: object) -> None:
        try:
            _raise_translated(exc_info[1], self.connection)
        finally:
            with _cancelled_first(exc_info[1]), _translated_errors():
                await _give_back(self.connection)


class _TransactionConnection(ConnectionWrapper[Any]):
    async def __aexit__(self, *exc_info: object) -> None:
        await super().__aexit__(*exc_info)
        _raise_translated(exc_info[1], self.connection)


class _Transaction(TransactionWrapper):
    execute_many = _execute_many

    def acquire_connection(self) -> ConnectionWrapper[Any]:
        return _TransactionConnection(self._lock, self)

    def _in_transaction(self) -> TransactionContext:
        return NestedTransactionContext(_Transaction(self))

    async def begin(self) -> None:
        with _translated_errors(self._connection):
            await super().begin()

    async def commit(self) -> None:
        with _translated_errors(self._connection):
            await super().commit()

    async def rollback(self) -> None:
        with _translated_errors(self._connection):
            await super().rollback()

    @translate_exceptions
    async def copy_records(
        self, table: str, columns: Sequence[str], records: Sequence[Sequence[object]]
    ) -> None:
        """Load many rows at once, by COPY. Raises `IntegrityError` when one of them may not be."""
        async with self.acquire_connection() as connection:
            await connection.copy_records_to_table(table, columns=columns, records=records)


async def _undo(client: Any, beginning: asyncio.Future[None]) -> None:  # noqa: ANN401
    """Give a connection back on which a transaction has begun, or has not; not before that is known.

    asyncpg would take the next transaction for a part of one that was cancelled while it began.
    """
    await asyncio.wait([beginning])
    try:
        if not beginning.exception():
            await client.rollback()
    finally:
        await client._parent._pool.release(client._connection)  # noqa: SLF001


class _TransactionContext(TransactionContextPooled):
    async def __aenter__(self) -> TransactionalDBClient:
        """Begin, or leave no trace: neither a failure nor a cancellation keeps a connection from the pool."""
        client: Any = self.client
        client._connection = await _borrow(client._parent, self.ensure_connection)  # noqa: SLF001
        beginning = asyncio.ensure_future(client.begin())
        try:
            await asyncio.shield(beginning)
        except BaseException as error:
            with _cancelled_first(error):
                await _to_its_end(_undo(client, beginning))
            raise
        self.token = get_connections().set(self.connection_name, client)
        return self.client

    async def __aexit__(self, *exc_info: object) -> None:
        """End whole, even if cancelled meanwhile; the next statement of this task has a connection again."""
        get_connections().reset(self.token)  # first: Tortoise comes to it after the last `await` only
        self.token = None  # type: ignore[assignment]  # so that Tortoise leaves it alone
        with _cancelled_first(exc_info[1]):
            await _to_its_end(super().__aexit__(*exc_info))


class Client(AsyncpgDBClient):
    """A pool of connections to one PostgreSQL database, opened at the first statement that needs it."""

    execute_many = _execute_many

    async def create_pool(self, **options: Any) -> asyncpg.Pool:  # noqa: ANN401
        """Open the pool, or raise what `acquire_connection` translates."""
        return await asyncpg.create_pool(None, reset=_reset, **options)

    def acquire_connection(self) -> PoolConnectionWrapper[Any]:
        """Borrow a connection for one statement."""
        return _PooledConnection(self, self._pool_init_lock)

    def _in_transaction(self) -> TransactionContext:
        return _TransactionContext(_Transaction(self), self._pool_init_lock)


client_class = Client
