"""PostgreSQL for Tortoise: bounded waits, errors that mean something, no connection lost from the pool."""

from __future__ import annotations

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
from tortoise.connection import get_connections
from tortoise.exceptions import DBConnectionError

from monitoring.backends.errors import DatabaseUnavailable, TransactionConflict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tortoise.backends.base.client import TransactionalDBClient, TransactionContext

ACQUIRE_TIMEOUT_SECONDS = 5

_UNAVAILABLE = (
    OSError,  # refused, reset, no route; TimeoutError is one too
    DBConnectionError,
    asyncpg.InterfaceError,  # the connection is gone, or the pool is closing
    asyncpg.PostgresConnectionError,
    asyncpg.InsufficientResourcesError,  # too many connections, disk full
    asyncpg.OperatorInterventionError,  # shutting down, starting up, statement timeout
    asyncpg.InvalidCatalogNameError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.LockNotAvailableError,
    asyncpg.ReadOnlySQLTransactionError,  # a primary that became a standby
)


def _raise_translated(error: object) -> None:
    if isinstance(error, asyncpg.TransactionRollbackError):  # serialization failure, deadlock
        raise TransactionConflict(str(error)) from error
    if isinstance(error, _UNAVAILABLE):
        raise DatabaseUnavailable(f"{type(error).__name__}: {error}") from error


@contextmanager
def _translated_errors() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        _raise_translated(error)
        raise


async def _reset(connection: asyncpg.Connection) -> None:
    """Clean a connection only when it needs it: a round trip less for every statement.

    Safe as long as nobody leaves session state behind (SET, LISTEN, session advisory locks).
    """
    if connection.is_in_transaction():
        await connection.reset()


class _PooledConnection(PoolConnectionWrapper[Any]):
    async def __aenter__(self) -> Any:  # noqa: ANN401
        with _translated_errors():
            await self.ensure_connection()
            self.connection = await self.client._pool.acquire(timeout=ACQUIRE_TIMEOUT_SECONDS)  # noqa: SLF001
        return self.connection

    async def __aexit__(self, *exc_info: object) -> None:
        with _translated_errors():
            await super().__aexit__(*exc_info)
        _raise_translated(exc_info[1])


class _TransactionConnection(ConnectionWrapper[Any]):
    async def __aexit__(self, *exc_info: object) -> None:
        await super().__aexit__(*exc_info)
        _raise_translated(exc_info[1])


class _Transaction(TransactionWrapper):
    def acquire_connection(self) -> ConnectionWrapper[Any]:
        return _TransactionConnection(self._lock, self)

    def _in_transaction(self) -> TransactionContext:
        return NestedTransactionContext(_Transaction(self))

    async def begin(self) -> None:
        with _translated_errors():
            await super().begin()

    async def commit(self) -> None:
        with _translated_errors():
            await super().commit()

    async def rollback(self) -> None:
        with _translated_errors():
            await super().rollback()


class _TransactionContext(TransactionContextPooled):
    async def __aenter__(self) -> TransactionalDBClient:
        """Begin, or leave no trace: neither a failure nor a cancellation keeps a connection from the pool."""
        client: Any = self.client
        with _translated_errors():
            await self.ensure_connection()
            client._connection = await client._parent._pool.acquire(timeout=ACQUIRE_TIMEOUT_SECONDS)  # noqa: SLF001
        try:
            await client.begin()
        except BaseException:
            await client._parent._pool.release(client._connection)  # noqa: SLF001
            raise
        self.token = get_connections().set(self.connection_name, client)
        return self.client


class Client(AsyncpgDBClient):
    """A pool of connections to one PostgreSQL database, opened at the first statement that needs it."""

    async def create_pool(self, **options: Any) -> asyncpg.Pool:  # noqa: ANN401
        """Open the pool, or raise what `acquire_connection` translates."""
        return await asyncpg.create_pool(None, reset=_reset, **options)

    def acquire_connection(self) -> PoolConnectionWrapper[Any]:
        """Borrow a connection for one statement; waits five seconds at most for a free one."""
        return _PooledConnection(self, self._pool_init_lock)

    def _in_transaction(self) -> TransactionContext:
        return _TransactionContext(_Transaction(self), self._pool_init_lock)


client_class = Client
