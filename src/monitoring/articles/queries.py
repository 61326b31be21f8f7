"""The SQL statements about articles, for PostgreSQL and SQLite."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from tortoise.backends.base.client import BaseDBAsyncClient

from monitoring.articles.models import PublicationStatus
from monitoring.articles.storage import SOURCE_LOCALE
from monitoring.backends.current import current_backends
from monitoring.backends.fields import read_id
from monitoring.backends.statements import is_postgres, spell, spell_values

_FORGETTING_LOCK = 7_023_417_067

# If more articles than this have changed, articles are checked one by one, newest first, until a page is
# full.
FEW_CHANGES = 1000

# Each subquery follows the order of an index, so that it reads no more rows than it counts.
_HAS_MANY_CHANGES = """
    SELECT 1 FROM (
        SELECT id FROM articles WHERE updated_at >= $1 ORDER BY updated_at LIMIT 1 OFFSET $2
    ) AS one
    UNION ALL SELECT 1 FROM (
        SELECT id FROM translations WHERE translated_at >= $1 ORDER BY translated_at LIMIT 1 OFFSET $2
    ) AS other
"""

# A subquery with an aggregate is used, because it runs once for each article and takes one index lookup. With
# EXISTS, PostgreSQL would read all translations. The articles' times are read from another index, so the rows
# of articles that do not match are not read. Reading these rows would be slow on SQLite, which stores the
# times after the payload.
_CHANGED_SINCE_LIKE_MANY = """
    (
        articles.updated_at >= {0}
        OR (SELECT MAX(translated_at) FROM translations WHERE article_id = articles.id) >= {0}
    )
"""

# Both tables have an index on the time of change, so a few changes are found fast among any number of
# articles.
_CHANGED_SINCE = """
    articles.id IN (
        SELECT id FROM articles WHERE updated_at >= {0}
        UNION ALL SELECT article_id FROM translations WHERE translated_at >= {0}
    )
"""

_TRANSLATED_INTO = """
    EXISTS (
        SELECT 1 FROM translations
        WHERE article_id = articles.id AND locale = {0} AND translated_at IS NOT NULL
    )
"""

_TAGGED_ON_POSTGRES = (
    "EXISTS (SELECT 1 FROM json_array_elements_text(articles.tags::json) AS tag WHERE tag = {0})"
)
_TAGGED_ON_SQLITE = "EXISTS (SELECT 1 FROM json_each(articles.tags) WHERE value = {0})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArticleFilter:
    """Selects articles to list. Fields that are None do not filter; the others are combined with AND."""

    status: str = PublicationStatus.PUBLISHED
    locale: str | None = None
    tag: str | None = None
    updated_since: datetime | None = None


async def find_ids(wanted: ArticleFilter, count: int, after_id: UUID | None) -> list[UUID]:
    """Return the ids of up to `count` matching articles, newest first, starting after `after_id`."""
    connection = current_backends().database.context.db()
    tagged = _TAGGED_ON_POSTGRES if is_postgres(connection) else _TAGGED_ON_SQLITE
    since = wanted.updated_since
    has_many_changes = since and await connection.execute_query_dict(
        spell(connection, _HAS_MANY_CHANGES), spell_values(connection, [since, FEW_CHANGES])
    )
    conditions = {
        "articles.status = {0}": str(wanted.status),
        "articles.id < {0}": after_id,
        _TRANSLATED_INTO: wanted.locale if wanted.locale != SOURCE_LOCALE else None,
        tagged: wanted.tag,
        _CHANGED_SINCE_LIKE_MANY if has_many_changes else _CHANGED_SINCE: since,
    }
    given = {condition: value for condition, value in conditions.items() if value is not None}
    numbered = [condition.format(f"${number}") for number, condition in enumerate(given, start=1)]
    sql = (
        f"SELECT id FROM articles WHERE {' AND '.join(numbered)}"  # noqa: S608 - the conditions are constants
        f" ORDER BY status DESC, id DESC LIMIT ${len(given) + 1}"
    )
    rows = await connection.execute_query_dict(
        spell(connection, sql), spell_values(connection, [*given.values(), count])
    )
    return [read_id(row["id"]) for row in rows]


async def hold_forgetting(connection: BaseDBAsyncClient) -> None:
    """Make other transactions that delete segments wait until this transaction ends.

    SQLite needs no lock, because it has a single writer.
    """
    if is_postgres(connection):
        await connection.execute_query(f"SELECT pg_advisory_xact_lock({_FORGETTING_LOCK})")
