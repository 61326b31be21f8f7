"""Fingerprints of live pages' data: short texts that change whenever an underlying row changes.

A fingerprint contains sums and counts of times instead of the newest time, because a transaction may commit
after another transaction that has a newer time.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import NamedTuple
from uuid import UUID

from monitoring.backends.current import current_backends
from monitoring.backends.fields import read_id
from monitoring.backends.rowsets import id_rowset, pack_ids
from monitoring.backends.statements import is_postgres, spell

# The id for sources that do not depend on an id, because they cover the whole installation.
EVERYWHERE = UUID(int=0)


class Source(Enum):
    """A group of rows that pages show, selected by an id. Each value is a list of SQL columns for one id.

    `{ms:x}` is replaced with SQL for the time `x` in milliseconds. In SQL, the sum of no rows is null, and
    text concatenated with null is null. `coalesce` is used where a null sum would hide the other values.
    """

    # A team's monitors, their states, deletions and mutes, and its incidents.
    TEAM = """
        (SELECT count(*) || ' ' || sum(version) || ' ' || sum({ms:status_changed_at})
            FROM monitors WHERE team_id = given.id),
        (SELECT id FROM incidents WHERE team_id = given.id ORDER BY id DESC LIMIT 1),
        (SELECT count(*) || ' ' || count(acknowledged_at) || ' ' || sum({ms:started_at})
            FROM incidents WHERE team_id = given.id AND resolved_at IS NULL),
        (SELECT count(*) || ' ' || sum({ms:delete_at}) FROM pending_deletions WHERE team_id = given.id),
        (SELECT count(*) || ' ' || coalesce(sum({ms:muted_until}), 0) FROM mutes WHERE team_id = given.id)
    """

    # The last checks of all of a team's monitors.
    CHECKS = """
        (SELECT count(last_checked_at) || ' ' || sum({ms:last_checked_at})
            FROM monitors JOIN watches ON watches.monitor_id = monitors.id WHERE team_id = given.id)
    """

    # A monitor's last and next check, and its maintenance.
    MONITOR = """
        (SELECT sum({ms:last_checked_at}) FROM watches WHERE monitor_id = given.id),
        (SELECT sum({ms:next_check_at}) FROM watches WHERE monitor_id = given.id),
        (SELECT sum({ms:maintenance_until}) FROM watches WHERE monitor_id = given.id)
    """

    # An incident's notes.
    INCIDENT = "(SELECT id FROM incident_notes WHERE incident_id = given.id ORDER BY id DESC LIMIT 1)"

    # The deliveries about an incident or an article.
    DELIVERIES = """
        (SELECT count(*) || ' ' || sum(attempts) || ' ' || count(delivered_at) || ' ' || count(error_message)
            || ' ' || count(due_at) || ' ' || coalesce(sum({ms:due_at}), 0)
            || ' ' || coalesce(sum({ms:attempted_at}), 0)
            FROM notification_deliveries WHERE subject_id = given.id)
    """

    # A team's channels.
    CHANNELS = """
        (SELECT count(*) || ' ' || sum({ms:updated_at}) || ' ' || count(confirmed_at) || ' '
            || sum(CASE WHEN enabled THEN 1 ELSE 0 END)
            FROM notification_channels WHERE team_id = given.id)
    """

    # A channel's newest deliveries. A page of older deliveries is updated only when it reconnects
    # (`FOLLOWED_SECONDS`).
    CHANNEL = """
        (SELECT count(*) || ' ' || sum({ms:created_at}) || ' ' || sum(attempts) || ' ' || count(delivered_at)
            || ' ' || count(error_message) || ' ' || count(due_at) || ' ' || coalesce(sum({ms:due_at}), 0)
            || ' ' || coalesce(sum({ms:attempted_at}), 0)
            FROM (SELECT * FROM notification_deliveries WHERE channel_id = given.id
                ORDER BY id DESC LIMIT 200) AS newest)
    """

    # A team's maintenance windows. A worker updates `due_at` when maintenance begins and ends.
    WINDOWS = """
        (SELECT count(*) || ' ' || sum({ms:updated_at}) || ' ' || coalesce(sum({ms:ended_at}), 0) || ' '
            || coalesce(sum({ms:due_at}), 0)
            FROM maintenance_windows WHERE team_id = given.id)
    """

    # All articles, and the translations in progress. Both queries are index-only scans.
    ARTICLES = """
        (SELECT count(*) || ' ' || sum({ms:updated_at}) FROM articles),
        (SELECT count(*) || ' ' || sum({ms:due_at}) || ' ' || count(CASE status WHEN 'queued' THEN 1 END)
            FROM translations WHERE status IN ('queued', 'translating'))
    """

    # An article, its translations, its history and its audit log entries.
    ARTICLE = """
        (SELECT revision || ' ' || status || ' ' || {ms:updated_at} FROM articles WHERE id = given.id),
        (SELECT count(*) || ' ' || sum(attempts) || ' ' || sum({ms:due_at}) || ' ' || count(claim) || ' '
            || count(CASE status WHEN 'failed' THEN 1 END) || ' ' || sum(untranslated_segments) || ' '
            || coalesce(sum({ms:translated_at}), 0)
            FROM translations WHERE article_id = given.id),
        (SELECT count(*) FROM article_history WHERE article_id = given.id),
        (SELECT count(*) FROM audit_entries WHERE subject_id = CAST(given.id AS text))
    """

    # The usage of translation engines.
    USAGE = "(SELECT sum(characters) || ' ' || sum(requests) FROM engine_usage)"


class Shown(NamedTuple):
    """Data that a page shows: a source, and the id of the team, monitor or other object that it is about."""

    source: Source
    id: UUID


async def read_fingerprints(shown: Iterable[Shown]) -> dict[Shown, str]:
    """Return the fingerprint of each item of `shown`, with one SQL statement for each source."""
    connection = current_backends().database.context.db()
    ids: dict[Source, set[UUID]] = {}
    for source, id_ in shown:
        ids.setdefault(source, set()).add(id_)
    fingerprints = {}
    milliseconds = _OnPostgres() if is_postgres(connection) else _OnSqlite()
    for source, wanted in ids.items():
        columns = source.value.format(ms=milliseconds)
        sql = f"SELECT given.id, {columns} FROM {id_rowset(connection)}"  # noqa: S608 - our own columns
        _, rows = await connection.execute_query(spell(connection, sql), [pack_ids(connection, wanted)])
        for id_, *found in rows:
            fingerprints[Shown(source, read_id(id_))] = " | ".join(map(str, found))
    return fingerprints


class _OnPostgres:
    def __format__(self, column: str) -> str:
        return f"(extract(epoch FROM {column}) * 1000)::bigint"


class _OnSqlite:
    """Formats the name of a time column as SQL that computes the time in milliseconds.

    SQLite stores times as text, in which a fraction may follow the second.
    """

    def __format__(self, column: str) -> str:
        return f"(strftime('%s', {column}) * 1000 + substr({column}, 21, 3))"
