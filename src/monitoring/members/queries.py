"""An SQL query that reads the sessions of many open pages in one statement."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from monitoring.backends.current import current_backends
from monitoring.backends.fields import read_id
from monitoring.backends.rowsets import id_rowset, pack_ids
from monitoring.backends.statements import spell, spell_values


async def list_living_sessions(session_ids: Collection[UUID], now: datetime) -> list[tuple[UUID, UUID, str]]:
    """Return the unexpired sessions among `session_ids`, each with its user's team and role."""
    if not session_ids:
        return []
    connection = current_backends().database.context.db()
    sql = f"""
        SELECT sessions.id, users.team_id, users.role FROM {id_rowset(connection)}
            JOIN sessions ON sessions.id = given.id JOIN users ON users.id = sessions.user_id
            WHERE sessions.expires_at > $2
    """  # noqa: S608 - our own names
    values = [pack_ids(connection, session_ids), *spell_values(connection, [now])]
    _, rows = await connection.execute_query(spell(connection, sql), values)
    return [(read_id(id_), read_id(team_id), role) for id_, team_id, role in rows]
