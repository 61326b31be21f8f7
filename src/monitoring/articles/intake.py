"""How new articles are taken in: those that are delivered at the same time, in one transaction."""

from __future__ import annotations

import logging
from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from tortoise.exceptions import IntegrityError

from monitoring.articles.models import Article
from monitoring.articles.storage import put_originals, round_transaction, turn_seconds
from monitoring.backends.current import current_backends
from monitoring.backends.errors import (
    BackendUnavailable,
    StorageChanged,
    StorageUnavailable,
    TransactionConflict,
)
from monitoring.backends.fields import uuid7_text
from monitoring.backends.inserts import insert_together, new_row
from monitoring.backends.rowsets import nested_rowset, pack
from monitoring.backends.statements import spell

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from uuid import UUID

    from tortoise.backends.base.client import BaseDBAsyncClient

    from monitoring.articles.deliveries import Delivery
    from monitoring.backends.rounds import Take

# What becomes of a delivery in a round: its article, or why that was not stored, or nothing: it goes alone.
Outcome: TypeAlias = "Article | StorageUnavailable | None"

# The second time, what another process was faster with is known.
ATTEMPTS = 2

log = logging.getLogger(__name__)


async def take_in_by_the_round(delivery: Delivery) -> Article | None:
    """Take in a new article, in one transaction with others that are delivered at the same time.

    None says that nothing was decided and the delivery has to go alone: it is no plainly new article, or the
    round failed, of which another delivery may be the cause. Raises `StorageUnavailable` or
    `DatabaseUnavailable`.
    """
    rounds = current_backends().rounds
    try:
        return await rounds.join(_take_in, delivery, delivery.size_bytes, turn_seconds())
    except TimeoutError as error:
        raise StorageUnavailable("no round had its turn in time") from error


async def _take_in(take: Take[Delivery]) -> Sequence[Outcome]:
    deliveries: Sequence[Delivery] = ()
    try:
        for _ in range(ATTEMPTS):
            with suppress(IntegrityError, TransactionConflict):
                async with round_transaction() as connection:
                    deliveries = deliveries or take()
                    articles = await _make_new_articles(connection, deliveries)
                    not_stored = await _store_articles(connection, list(filter(None, articles)))
                return [article and not_stored.get(article.id, article) for article in articles]
    except BackendUnavailable:
        raise
    except Exception:
        if not deliveries:
            raise
        log.exception("A round of %d deliveries failed: each goes alone", len(deliveries))
    return [None] * len(deliveries or take())


async def _make_new_articles(
    connection: BaseDBAsyncClient, deliveries: Sequence[Delivery]
) -> list[Article | None]:
    """Make an article of every delivery that none is known for; of two that would be one, of the first."""
    taken_folders = await find_taken_folders(connection, deliveries)
    now = datetime.now(UTC)
    articles: list[Article | None] = []
    for delivery in deliveries:
        if delivery.identity in taken_folders:
            articles.append(None)
            continue
        article = make_article(delivery, taken_folders.values(), now)
        taken_folders[delivery.identity] = article.slug
        articles.append(article)
    return articles


async def _store_articles(connection: BaseDBAsyncClient, articles: Sequence[Article]) -> dict[UUID, Outcome]:
    """Store rows and files of new articles; rows whose file was refused are taken out again, and told."""
    if not articles:
        return {}
    # In an order that all processes keep: two of them wait for each other at most in one direction.
    await insert_articles(connection, sorted(articles, key=lambda article: article.identity))
    refused = await put_originals(articles)
    if refused:
        await Article.filter(id__in=list(refused)).delete()  # and their translations with them
    # Something lies there that no row tells of: who goes alone looks at it, and replaces just that.
    return {id_: None if isinstance(error, StorageChanged) else error for id_, error in refused.items()}


async def find_taken_folders(connection: BaseDBAsyncClient, deliveries: Sequence[Delivery]) -> dict[str, str]:
    """Find the deliveries' articles, and those in the folders that they could have: folders by identity."""
    identities = [delivery.identity for delivery in deliveries]
    folders = [folder for delivery in deliveries for folder in delivery.folders()]
    if not identities:
        return {}
    sql = _select_taken(len(identities), len(folders))
    found = await connection.execute_query_dict(spell(connection, sql), [*identities, *folders])
    return {row["identity"]: row["slug"] for row in found}


@cache
def _select_taken(identities: int, folders: int) -> str:
    numbers = [f"${number + 1}" for number in range(identities + folders)]
    return (
        f"SELECT identity, slug FROM articles WHERE identity IN ({', '.join(numbers[:identities])})"  # noqa: S608 - numbers of our own
        f" OR slug IN ({', '.join(numbers[identities:])})"
    )


def make_article(delivery: Delivery, taken_folders: Collection[str], now: datetime) -> Article:
    """Make a new article, in the best of its folders that is not taken."""
    return new_row(
        Article,
        identity=delivery.identity,
        slug=next(folder for folder in delivery.folders() if folder not in taken_folders),
        title=delivery.payload["article"].get("title"),
        revision=1,
        content_hash=delivery.content_hash,
        source_time=delivery.source_time,
        source_time_field=delivery.source_time_field,
        payload=delivery.payload,
        received_at=now,
        updated_at=now,
        nudged_at=now,
    )


async def insert_articles(connection: BaseDBAsyncClient, articles: Sequence[Article]) -> None:
    """Insert new articles, and queue every locale of each.

    Raises `IntegrityError` if another was faster with one of them, or has taken its folder.
    """
    await insert_together(connection, *articles)
    locales = current_backends().settings.locales
    await insert_translations(
        connection, [article.id for article in articles], locales, revision=1, due_at=articles[0].received_at
    )


async def insert_translations(
    connection: BaseDBAsyncClient,
    article_ids: Sequence[UUID],
    locales: Iterable[str],
    *,
    revision: int,
    due_at: datetime,
) -> None:
    """Queue locales that articles have no row for yet. Raises `IntegrityError` if one has."""
    given = nested_rowset(connection, {"article_id": "uuid", "locale": "text", "id": "uuid"}, "$3")
    sql = (
        "INSERT INTO translations (id, article_id, locale, revision, due_at, status, attempts)"  # noqa: S608
        f" SELECT given.id, given.article_id, given.locale, $1, $2, 'queued', 0 FROM {given}"
    )
    ids = {str(article_id): {locale: uuid7_text() for locale in locales} for article_id in article_ids}
    await connection.execute_query_dict(spell(connection, sql), [revision, due_at, pack(connection, ids)])
