"""Statement spans, for the clients that record traces.

Only statements within requests, tasks and checks have spans. Otherwise, workers and checkers, which
constantly poll the database for work, would record a span for each poll. A span contains the statement's
text, but never its values.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tortoise.backends.base.client import BaseDBAsyncClient, TransactionalDBClient

from monitoring.tracing import Span, current_trace_id, span

# Database names from OpenTelemetry's semantic conventions.
SYSTEMS = {"postgres": "postgresql", "sqlite": "sqlite"}

TABLE = re.compile(r"""\b(?:FROM|INTO|UPDATE)\s+"?(\w+)""")


class TracedStatements(BaseDBAsyncClient):
    """A client that records a span for each statement, including the wait for a connection."""

    async def execute_insert(self, query: str, values: list[Any]) -> Any:  # noqa: ANN401
        """Insert a row."""
        with self._statement(query):
            return await super().execute_insert(query, values)

    async def execute_query(self, query: str, values: list[Any] | None = None) -> tuple[int, Any]:
        """Run a statement, and return the number of changed or found rows, and the rows found."""
        with self._statement(query):
            return await super().execute_query(query, values)

    async def execute_query_dict(self, query: str, values: list[Any] | None = None) -> list[dict[str, Any]]:
        """Run a statement, and return its rows as dictionaries by column name."""
        with self._statement(query):
            rows: list[dict[str, Any]] = await super().execute_query_dict(query, values)
            return rows

    async def execute_many(self, query: str, values: list[list[Any]]) -> None:
        """Run a statement once for each row of values."""
        with self._statement(query):
            await super().execute_many(query, values)

    def _statement(self, query: str) -> AbstractContextManager[Span | None]:
        if current_trace_id() is None:
            return nullcontext()
        operation = query.split(maxsplit=1)[0].upper()
        table = TABLE.search(query)
        summary = f"{operation} {table[1]}" if table else operation
        attributes = {
            "db.system.name": SYSTEMS[self.capabilities.dialect],
            "db.operation.name": operation,
            "db.query.summary": summary,
            "db.query.text": query,
        }
        return span(summary, "client", attributes)


class TracedTransactions(TracedStatements, TransactionalDBClient):
    """A transaction that also records spans for BEGIN, COMMIT and ROLLBACK, with their waits for locks."""

    async def begin(self) -> None:
        """Begin the transaction."""
        with self._statement("BEGIN"):
            await super().begin()  # type: ignore[safe-super]

    async def commit(self) -> None:
        """Commit the transaction."""
        with self._statement("COMMIT"):
            await super().commit()  # type: ignore[safe-super]

    async def rollback(self) -> None:
        """Roll back the transaction."""
        with self._statement("ROLLBACK"):
            await super().rollback()  # type: ignore[safe-super]
