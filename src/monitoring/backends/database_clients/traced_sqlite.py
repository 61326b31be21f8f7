"""The SQLite client that records traces."""

from __future__ import annotations

from monitoring.backends.database_clients.sqlite import Client, _Transaction
from monitoring.backends.database_clients.traced_statements import TracedStatements, TracedTransactions


class _TracedTransaction(TracedTransactions, _Transaction):
    pass


class _TracedClient(TracedStatements, Client):
    transaction_class = _TracedTransaction


client_class = _TracedClient
