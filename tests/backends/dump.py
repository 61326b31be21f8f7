"""Everything that a database holds, as text."""

from __future__ import annotations

import json

from monitoring.backends.current import current_backends
from monitoring.backends.statements import is_postgres


async def dump_database() -> str:
    connection = current_backends().database.context.db()
    names = (
        "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
        if is_postgres(connection)
        else "SELECT name FROM sqlite_master WHERE type = 'table'"
    )
    tables = [row["name"] for row in await connection.execute_query_dict(names)]
    rows = {name: await connection.execute_query_dict(f'SELECT * FROM "{name}"') for name in tables}  # noqa: S608
    return json.dumps(rows, default=str, ensure_ascii=False)
