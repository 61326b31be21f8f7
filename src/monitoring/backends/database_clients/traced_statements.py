"""Spans of statements, for the clients that are used if traces are sent.

A statement outside requests, tasks and checks makes no span, because workers and checkers poll for work. A
span contains the statement's text, but never its values.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tortoise.backends.base.client import BaseDBAsyncClient, TransactionalDBClient

from monitoring.tracing import Span, current_trace_id, span

# Names of OpenTelemetry's semantic conventions.
SYSTEMS = {"postgres": "postgresql", "sqlite": "sqlite"}

TABLE = re.compile(r"""\b(?:FROM|INTO|UPDATE)\s+"?(\w+)""")


class TracedStatements(BaseDBAsyncClient):
    """A client that makes a span of each statement, including the wait for a connection."""

    async def execute_insert(self, query: str, values: list[Any]) -> Any:  # noqa: ANN401
        """Insert a row."""
        with self._statement(query):
            return await super().execute_insert(query, values)

    async def execute_query(self, query: str, values: list[Any] | None = None) -> tuple[int, Any]:
        """Run a statement, and return the number of changed or found rows, and the rows."""
        with self._statement(query):
            return await super().execute_query(query, values)

    async def execute_query_dict(self, query: str, values: list[Any] | None = None) -> list[dict[str, Any]]:
        """Run a statement, and return its rows by column."""
        with self._statement(query):
            rows: list[dict[str, Any]] = await super().execute_query_dict(query, values)
            return rows

    async def execute_many(self, query: str, values: list[list[Any]]) -> None:
        """Run a statement with each row of values."""
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
    """A transaction that also makes spans of its begin and end, including waits for locks and the disk."""

    async def begin(self) -> None:
        """Begin."""
        with self._statement("BEGIN"):
            await super().begin()  # type: ignore[safe-super]

    async def commit(self) -> None:
        """Commit."""
        with self._statement("COMMIT"):
            await super().commit()  # type: ignore[safe-super]

    async def rollback(self) -> None:
        """Undo everything."""
        with self._statement("ROLLBACK"):
            await super().rollback()  # type: ignore[safe-super]
