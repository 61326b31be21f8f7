"""Articles, the state of their translations, and what was translated before."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from tortoise import fields
from tortoise.models import Model

from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7


class PublicationStatus(StrEnum):
    """Whether readers may see an article. The document names the first two: a deleted one is not found."""

    PUBLISHED = "published"
    UNPUBLISHED = "unpublished"
    DELETED = "deleted"


class TranslationStatus(StrEnum):
    """As the document names them. The first two are open: a worker may claim them once they are due."""

    QUEUED = "queued"
    TRANSLATING = "translating"
    TRANSLATED = "translated"
    FAILED = "failed"


class HistoryEvent(StrEnum):
    """The events of a `HistoryEntry`."""

    REVISED = "revised"
    PUBLISHED = "published"  # after it was not
    TRANSLATED = "translated"
    FAILED = "failed"


OPEN_STATUSES = (TranslationStatus.QUEUED, TranslationStatus.TRANSLATING)


class Article(Model):
    """The newest revision of an article, as the publisher sent it.

    A deleted one is a row without content, which tells submissions that are older than the deletion.
    """

    id = fields.UUIDField(primary_key=True, default=uuid7)
    identity = fields.CharField(max_length=600, unique=True)
    slug = fields.CharField(max_length=255, unique=True)
    title = fields.TextField(null=True)
    # By which links of other articles find it. Empty if the publisher told no address, and None until
    # `complete_older_articles` has read what a release before took in.
    address = fields.CharField(max_length=64, null=True)
    status = fields.CharField(
        max_length=11, default=PublicationStatus.PUBLISHED.value, db_default=PublicationStatus.PUBLISHED.value
    )
    withdrawn_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)  # while it is not published
    # When its files are to be removed: at once, and once more for what was stored late.
    remove_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    revision = fields.IntField(default=0)
    content_hash = fields.CharField(max_length=64)
    source_time: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    # The field of the submission that the time comes from: times of different fields are not compared.
    source_time_field = fields.CharField(max_length=20, null=True)
    payload: JsonTextField[dict[str, Any]] = JsonTextField()
    # Those of the payload that are text. None until `complete_older_articles` has read what 0.1.0 took in.
    tags: JsonTextField[list[str] | None] = JsonTextField(null=True)
    received_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    updated_at: UtcDatetimeField[datetime] = UtcDatetimeField()  # content or status
    # When somebody last sent a message for its translations. The sweep then leaves it alone for a while.
    nudged_at: UtcDatetimeField[datetime] = UtcDatetimeField()

    translations: fields.ReverseRelation[Translation]

    class Meta:
        table = "articles"
        # The second has all that a list of changes asks of the articles that it passes over.
        indexes = (("remove_at",), ("status", "id", "updated_at"), ("updated_at",), ("address",))


class Translation(Model):
    """One locale of an article. The row is the job: whatever else gets lost, it says what is to be done."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    article: fields.ForeignKeyRelation[Article] = fields.ForeignKeyField(
        "monitoring.Article", related_name="translations"
    )
    article_id: UUID
    locale = fields.CharField(max_length=35)
    revision = fields.IntField()
    status = fields.CharField(max_length=11, default=TranslationStatus.QUEUED.value)
    attempts = fields.IntField(default=0)
    # How many of the last attempts ended with their worker. The next is then made alone.
    worker_deaths = fields.IntField(default=0, db_default=0)
    # When a worker may claim it: the time of the next attempt, or the end of the lease while it is
    # translated.
    due_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    claim = fields.UUIDField(null=True)
    reason = fields.CharField(max_length=500, null=True)
    untranslated_segments = fields.IntField(default=0, db_default=0)
    engine = fields.CharField(max_length=100, null=True)  # that has translated it last
    is_demonstration = fields.BooleanField(default=False, db_default=False)
    translated_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)

    class Meta:
        table = "translations"
        unique_together = (("article_id", "locale"),)
        indexes = (("status", "due_at"), ("translated_at",), ("article_id", "translated_at"))


class RefusedSegment(Model):
    """A segment that a translation left in English, and what was wrong with the answer."""

    id = fields.BigIntField(primary_key=True)
    translation: fields.ForeignKeyRelation[Translation] = fields.ForeignKeyField("monitoring.Translation")
    translation_id: UUID
    segment_hash = fields.CharField(max_length=64)
    fault = fields.CharField(max_length=20)

    class Meta:
        table = "refused_segments"
        unique_together = (("translation_id", "segment_hash"),)


class HistoryEntry(Model):
    """What became of an article, where neither its rows nor the audit log keep it."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    # No foreign key: it would lock the article's row after a translation's, and whoever takes an article back
    # locks them the other way round. The row of a deleted article stays anyway.
    article_id = fields.UUIDField()
    happened_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    event = fields.CharField(max_length=10)
    revision = fields.IntField()
    locale = fields.CharField(max_length=35, null=True)
    reason = fields.CharField(max_length=500, null=True)

    class Meta:
        table = "article_history"
        indexes = (("article_id", "id"),)


class TranslationMemory(Model):
    """A segment that an engine has translated once, for articles that change a little."""

    id = fields.BigIntField(primary_key=True)
    engine = fields.CharField(max_length=100)
    locale = fields.CharField(max_length=35)
    segment_hash = fields.CharField(max_length=64)
    text = fields.TextField()

    class Meta:
        table = "translation_memory"
        unique_together = (("engine", "locale", "segment_hash"),)
        indexes = (("segment_hash",),)


class EngineUsage(Model):
    """What an engine was asked in a month, for a locale. A row without an engine has the month's sum."""

    id = fields.BigIntField(primary_key=True)
    month = fields.CharField(max_length=7)  # in UTC, such as 2026-11
    engine = fields.CharField(max_length=100)
    locale = fields.CharField(max_length=35)
    characters = fields.BigIntField(default=0)
    requests = fields.BigIntField(default=0)

    class Meta:
        table = "engine_usage"
        unique_together = (("month", "engine", "locale"),)


class MemoryUse(Model):
    """A segment of an article, so that what only a deleted article needs is forgotten with it."""

    id = fields.BigIntField(primary_key=True)
    article: fields.ForeignKeyRelation[Article] = fields.ForeignKeyField("monitoring.Article")
    article_id: UUID
    segment_hash = fields.CharField(max_length=64)

    class Meta:
        table = "memory_uses"
        unique_together = (("article_id", "segment_hash"),)
        indexes = (("segment_hash",),)


class ArticleLink(Model):
    """An article that a link in another article may lead to, by a key of `links/addresses.py`."""

    id = fields.BigIntField(primary_key=True)
    article: fields.ForeignKeyRelation[Article] = fields.ForeignKeyField("monitoring.Article")
    article_id: UUID
    key = fields.CharField(max_length=256)

    class Meta:
        table = "article_links"
        unique_together = (("article_id", "key"),)
        indexes = (("key",),)


class TestArticle(Model):
    """An article of a publisher that tests: kept for a day, translated for nobody, and never published."""

    id = fields.UUIDField(primary_key=True, default=uuid7)
    identity = fields.CharField(max_length=600, unique=True)
    slug = fields.CharField(max_length=255)
    title = fields.TextField(null=True)
    status = fields.CharField(max_length=11)
    withdrawn_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    revision = fields.IntField(default=0)
    content_hash = fields.CharField(max_length=64, default="")
    source_time: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    source_time_field = fields.CharField(max_length=20, null=True)
    payload: JsonTextField[dict[str, Any]] = JsonTextField(default=dict)
    tags: JsonTextField[list[str]] = JsonTextField(default=list)
    received_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    updated_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    # The state of each locale, as the document writes it.
    translations: JsonTextField[list[dict[str, Any]]] = JsonTextField(default=list)
    is_due = fields.BooleanField(default=False)
    attempts = fields.IntField(default=0)

    class Meta:
        table = "test_articles"
        indexes = (("updated_at",),)


class SiteFiles(Model):
    """The one row whose holder writes the sitemap and the feeds: from which state they were written."""

    id = fields.IntField(primary_key=True)
    written = fields.CharField(max_length=64, default="")
    # Links lead where they are to lead after what changed until then.
    links_followed_at: UtcDatetimeField[datetime | None] = UtcDatetimeField(null=True)
    attempts = fields.IntField(default=0)
    due_at: UtcDatetimeField[datetime] = UtcDatetimeField()
    claim = fields.UUIDField(null=True)

    class Meta:
        table = "site_files"
