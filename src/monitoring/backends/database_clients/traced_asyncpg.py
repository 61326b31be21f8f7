"""The PostgreSQL client that records traces."""

from __future__ import annotations

from collections.abc import Sequence

from monitoring.backends.database_clients.asyncpg import Client, _Transaction
from monitoring.backends.database_clients.traced_statements import TracedStatements, TracedTransactions


class _TracedTransaction(TracedTransactions, _Transaction):
    async def copy_records(
        self, table: str, columns: Sequence[str], records: Sequence[Sequence[object]]
    ) -> None:
        """Insert many rows with COPY."""
        with self._statement(f"COPY {table} FROM STDIN"):
            await super().copy_records(table, columns, records)


class _TracedClient(TracedStatements, Client):
    transaction_class = _TracedTransaction


client_class = _TracedClient
