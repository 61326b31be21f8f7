"""PostgreSQL for Tortoise: bounded waits, specific errors, no connections lost from the pool.

This is the only file that imports asyncpg, and it uses only documented names. It overrides undocumented parts
of Tortoise's asyncpg client, which tests/backends/test_tortoise_assumptions.py checks:

- `acquire_connection` and `_in_transaction` create the contexts of a statement and of a transaction.
- `_pool` is None until `ensure_connection` has opened the pool with `create_pool`.
- A transaction's client has a `_connection`, the outer client as `_parent`, and a `_lock`.
- A transaction's context sets its task's client with `get_connections().set`, and keeps the `token`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, ClassVar, cast

import asyncpg  # type: ignore[import-untyped]
from tortoise.backends.asyncpg.client import AsyncpgDBClient, TransactionWrapper
from tortoise.backends.base.client import (
    BaseDBAsyncClient,
    ConnectionWrapper,
    NestedTransactionContext,
    PoolConnectionWrapper,
    TransactionalDBClient,
    TransactionContext,
    TransactionContextPooled,
)
from tortoise.backends.base_postgres.client import translate_exceptions
from tortoise.connection import get_connections
from tortoise.exceptions import DBConnectionError

from monitoring.backends.errors import DatabaseUnavailable, TransactionConflict, describe_error
from monitoring.backends.outage import Outage, outage_of
from monitoring.metrics import DATABASE_POOL_WAIT_SECONDS

# asyncpg logs every failed reconnection with a traceback, whereas we log each outage once.
logging.getLogger("asyncpg.pool").setLevel(logging.ERROR)

_UNAVAILABLE = (
    OSError,  # refused, reset, no route, and its subclass TimeoutError
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

# Errors after which the server still serves reads.
_REFUSES_WRITES = (asyncpg.DiskFullError, asyncpg.ReadOnlySQLTransactionError)

# Errors of a statement that other sessions have blocked for too long. The server itself is available.
_IN_THE_WAY = (asyncpg.LockNotAvailableError, asyncpg.QueryCanceledError)


def _outage_of(client: BaseDBAsyncClient) -> Outage:
    return cast("Client | _Transaction", client).outage


def _raise_translated(error: object, outage: Outage, connection: Any = None) -> None:  # noqa: ANN401 - asyncpg is untyped
    is_silent = isinstance(error, TimeoutError | asyncpg.InternalClientError)
    if is_silent and connection:
        # The server does not respond. Returning this connection to the pool would wait for the server again.
        with suppress(asyncpg.InterfaceError):  # already terminated
            connection.terminate()
    if isinstance(error, asyncpg.TransactionRollbackError):  # serialization failure, deadlock
        raise TransactionConflict(str(error)) from error
    if isinstance(error, _IN_THE_WAY):
        raise DatabaseUnavailable(describe_error(error)) from error
    if isinstance(error, _UNAVAILABLE):
        outage.begin(error, refuses_writes=isinstance(error, _REFUSES_WRITES))
        raise DatabaseUnavailable(describe_error(error), outage) from error


@contextmanager
def _translated_errors(outage: Outage, connection: Any = None) -> Iterator[None]:  # noqa: ANN401
    try:
        yield
    except Exception as error:
        _raise_translated(error, outage, connection)
        raise


async def _reset(connection: asyncpg.Connection) -> None:
    """Reset a connection that is returned to the pool, but only if it is in a transaction.

    Outside a transaction, the reset is skipped, which saves a round trip for each statement. This is safe as
    long as no code leaves session state behind (SET, LISTEN, session advisory locks).
    """
    if connection.is_in_transaction():
        await connection.reset()


async def _borrow(client: Any, ensure_pool: Callable[[], Awaitable[None]]) -> Any:  # noqa: ANN401
    """Acquire a connection from the pool. Waiting for one has the same timeout as opening one."""
    timeout_seconds, began_at = client.extra["timeout"], time.perf_counter()
    try:
        with _translated_errors(_outage_of(client)):
            if not client._pool:  # noqa: SLF001 - Tortoise's, here and below
                async with asyncio.timeout(timeout_seconds):  # also while another caller opens the pool
                    await ensure_pool()
            return await client._pool.acquire(timeout=timeout_seconds)  # noqa: SLF001
    finally:
        DATABASE_POOL_WAIT_SECONDS.inc(time.perf_counter() - began_at)


@contextmanager
def _cancelled_first(cause: object) -> Iterator[None]:
    """Suppress `DatabaseUnavailable` from the block if `cause` is a cancellation.

    The caller then raises the cancellation.
    """
    try:
        yield
    except DatabaseUnavailable:
        if not isinstance(cause, asyncio.CancelledError):
            raise


async def _to_its_end(work: Coroutine[Any, Any, None]) -> None:
    """Await `work` until it ends, even if the caller is cancelled. Then raise the cancellation."""
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
    """Execute a statement for all rows, or for none on failure. asyncpg needs no transaction for this."""
    async with client.acquire_connection() as connection:
        client.log.debug("%s: %s", query, values)
        # This must not be cancelled. If asyncpg is cancelled while the socket is blocked, it waits for a
        # response to a message that it has not sent.
        await _to_its_end(_send_many(_outage_of(client), connection, query, values))


async def _send_many(
    outage: Outage,
    connection: Any,  # noqa: ANN401
    query: str,
    values: Sequence[Sequence[object]],
) -> None:
    with _translated_errors(outage, connection):
        await connection.executemany(query, values)


class _PooledConnection(PoolConnectionWrapper[Any]):
    async def __aenter__(self) -> Any:  # noqa: ANN401
        self.connection = await _borrow(self.client, self.ensure_connection)
        self._pool = self.client._pool  # noqa: SLF001 - the client forgets it when it is closed
        return self.connection

    async def __aexit__(self, *exc_info: object) -> None:
        client = cast("Client", self.client)
        try:
            _raise_translated(exc_info[1], client.outage, self.connection)
        finally:
            with _cancelled_first(exc_info[1]), _translated_errors(client.outage):
                await self._pool.release(self.connection)
        if exc_info[1] is None:
            client.outage.end()


class _TransactionConnection(ConnectionWrapper[Any]):
    async def __aexit__(self, *exc_info: object) -> None:
        await super().__aexit__(*exc_info)
        _raise_translated(exc_info[1], _outage_of(self.client), self.connection)


class _Transaction(TransactionWrapper):
    execute_many = _execute_many

    @property
    def outage(self) -> Outage:
        return _outage_of(self._parent)

    def acquire_connection(self) -> ConnectionWrapper[Any]:
        return _TransactionConnection(self._lock, self)

    def _in_transaction(self) -> TransactionContext:
        return NestedTransactionContext(type(self)(self))

    async def begin(self) -> None:
        with _translated_errors(self.outage, self._connection):
            await super().begin()

    async def commit(self) -> None:
        with _translated_errors(self.outage, self._connection):
            await super().commit()
        self.outage.end()

    async def rollback(self) -> None:
        with _translated_errors(self.outage, self._connection):
            await super().rollback()

    @translate_exceptions
    async def copy_records(
        self, table: str, columns: Sequence[str], records: Sequence[Sequence[object]]
    ) -> None:
        """Insert many rows with COPY. Raises `IntegrityError` if one of them violates a constraint."""
        async with self.acquire_connection() as connection:
            await connection.copy_records_to_table(table, columns=columns, records=records)


async def _undo(client: Any, beginning: asyncio.Future[None]) -> None:  # noqa: ANN401
    """Wait for a cancelled BEGIN, roll back if it succeeded, and return the connection to the pool.

    Without the rollback, asyncpg would treat the connection's next transaction as nested in this one.
    """
    await asyncio.wait([beginning])
    try:
        if not beginning.exception():
            await client.rollback()
    finally:
        await client._parent._pool.release(client._connection)  # noqa: SLF001


class _TransactionContext(TransactionContextPooled):
    async def __aenter__(self) -> TransactionalDBClient:
        """Begin a transaction. On failure or cancellation, return the connection to the pool."""
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
        """End the transaction completely, even if cancelled, and restore the task's previous client."""
        get_connections().reset(self.token)  # first, because Tortoise resets it only after the last `await`
        self.token = None  # type: ignore[assignment]  # so that Tortoise does not reset it again
        with _cancelled_first(exc_info[1]):
            await _to_its_end(super().__aexit__(*exc_info))


class Client(AsyncpgDBClient):
    """A connection pool for one PostgreSQL database. The first statement opens it."""

    execute_many = _execute_many
    transaction_class: ClassVar[type[_Transaction]] = _Transaction

    @cached_property
    def outage(self) -> Outage:
        """The database's outage state, which all clients in this process share."""
        return outage_of(f"The database at {self.host}:{self.port}/{self.database}")

    async def create_pool(self, **options: Any) -> asyncpg.Pool:  # noqa: ANN401
        """Open the pool. Raises errors that `acquire_connection` translates."""
        return await asyncpg.create_pool(None, reset=_reset, **options)

    def count_connections(self) -> dict[str, int]:
        """Return the numbers of the pool's busy, idle and unopened connections."""
        size, idle = 0, 0
        if self._pool:
            size, idle = self._pool.get_size(), self._pool.get_idle_size()
        return {"busy": size - idle, "idle": idle, "unopened": self.pool_maxsize - size}

    def acquire_connection(self) -> PoolConnectionWrapper[Any]:
        """Return a context that acquires a connection for one statement."""
        return _PooledConnection(self, self._pool_init_lock)

    def _in_transaction(self) -> TransactionContext:
        return _TransactionContext(self.transaction_class(self), self._pool_init_lock)


client_class = Client
