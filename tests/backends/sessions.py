"""Another client of a PostgreSQL database, which does what an operator can do there."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

import asyncpg  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT_SECONDS = 30


class Session:
    """A superuser's connection, for synchronous tests."""

    def __init__(self, url: str, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self._url, self._timeout_seconds = url, timeout_seconds

    def __enter__(self) -> Self:
        self._runner = asyncio.Runner()
        self._connection = self._runner.run(asyncpg.connect(self._url, command_timeout=self._timeout_seconds))
        return self

    def __exit__(self, *exc_info: object) -> None:
        with self._runner:
            self._runner.run(self._connection.close())

    def execute(self, sql: str, *values: Any) -> list[Any]:
        """Run a statement and return the first column of its rows."""
        return [row[0] for row in self._runner.run(self._connection.fetch(sql, *values))]

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold locks until the block ends, then roll back."""
        self.execute("BEGIN")
        try:
            yield
        finally:
            self.execute("ROLLBACK")

    def give_to_role(self, name: str) -> str:
        """Give the database to a new role that is no superuser, and return the role's URL."""
        [database] = self.execute("SELECT current_database()")
        self.execute(f"CREATE ROLE {name} LOGIN")
        self.execute(f"ALTER DATABASE {database} OWNER TO {name}")
        return self._url.replace("//tests@", f"//{name}@")

    @contextmanager
    def no_connection_left(self, role: str) -> Iterator[None]:
        """Close the role's connections, and refuse new ones until the block ends."""
        self.execute(f"ALTER ROLE {role} CONNECTION LIMIT 0")
        self.execute("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = $1", role)
        try:
            yield
        finally:
            self.execute(f"ALTER ROLE {role} CONNECTION LIMIT -1")

    @contextmanager
    def writes_refused(self) -> Iterator[None]:
        """Make the whole server read-only, like a primary that became a standby."""
        self._configure("SET default_transaction_read_only = on")
        try:
            yield
        finally:
            self._configure("RESET default_transaction_read_only")

    def _configure(self, change: str) -> None:
        self.execute(f"ALTER SYSTEM {change}")
        self.execute("SELECT pg_reload_conf()")

    def is_somebody_waiting(self) -> bool:
        """Say whether a session waits for a lock."""
        return bool(self.execute("SELECT 1 FROM pg_locks WHERE NOT granted"))
