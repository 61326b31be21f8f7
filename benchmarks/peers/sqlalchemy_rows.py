"""The service's tables as SQLAlchemy models."""

from __future__ import annotations

import os
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import ForeignKey, Text, TypeDecorator, event
from sqlalchemy.dialects.postgresql import TIMESTAMP
from sqlalchemy.ext.asyncio import async_sessionmaker, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column, relationship
from sqlalchemy.types import DateTime
from uuid_utils.compat import uuid7

_url = os.environ["DATABASE_URL"]


def open_sessions() -> Any:
    """Open an engine with as many connections as the service has, and return a session factory."""
    if _url.startswith("sqlite"):
        engine = create_async_engine(_url.replace("sqlite://", "sqlite+aiosqlite:///"), pool_size=5)
        event.listen(engine.sync_engine, "connect", _prepare_sqlite)
        event.listen(engine.sync_engine, "begin", _begin_writing)
    else:
        url = _url.replace("postgresql://", "postgresql+asyncpg://")
        engine = create_async_engine(url, pool_size=10, max_overflow=0)
    return engine, async_sessionmaker(engine, expire_on_commit=False)


def _prepare_sqlite(connection: Any, _: Any) -> None:
    """Let readers work next to a writer, and make commits durable."""
    connection.isolation_level = None  # SQLAlchemy's events begin transactions, and the driver does not
    for setting in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=10000"):
        connection.execute(f"PRAGMA {setting}")


def _begin_writing(connection: Any) -> None:
    """Take the write lock at the beginning, because SQLite may refuse it to a transaction that has read."""
    connection.exec_driver_sql("BEGIN IMMEDIATE")


class JsonText(TypeDecorator[Any]):
    """JSON stored as text, which keeps the order of keys."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Any) -> str | None:  # noqa: ARG002 - SQLAlchemy's interface
        return None if value is None else orjson.dumps(value).decode()

    def process_result_value(self, value: Any, dialect: Any) -> Any:  # noqa: ARG002
        return None if value is None else orjson.loads(value)


class Row(DeclarativeBase):
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy's own
        datetime: DateTime(timezone=True).with_variant(TIMESTAMP(timezone=True), "postgresql"),
        dict[str, str]: JsonText,
        list[str]: JsonText,
        dict[str, Any]: JsonText,
        list[dict[str, Any]]: JsonText,
    }


class Team(Row):
    __tablename__ = "teams"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    max_monitors: Mapped[int]
    monitors_count: Mapped[int]


class ApiKey(Row):
    __tablename__ = "api_keys"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    team_id: Mapped[UUID]
    client_id: Mapped[str]
    name: Mapped[str]
    scopes: Mapped[list[str]]
    last_used_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]


class Monitor(Row):
    __tablename__ = "monitors"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    team_id: Mapped[UUID]
    key: Mapped[str | None]
    name: Mapped[str]
    type: Mapped[str]
    url: Mapped[str]
    method: Mapped[str]
    request_headers: Mapped[dict[str, str]]
    request_body: Mapped[str | None]
    expected_status_codes: Mapped[list[str]]
    required_keyword: Mapped[str | None]
    forbidden_keyword: Mapped[str | None]
    assertions: Mapped[list[dict[str, Any]]]
    contract: Mapped[dict[str, Any] | None]
    interval_seconds: Mapped[int]
    timeout_seconds: Mapped[int]
    follow_redirects: Mapped[bool]
    verify_tls: Mapped[bool]
    certificate_authority: Mapped[str | None]
    client_certificate: Mapped[str | None]
    tls_expiry_warning_days: Mapped[int]
    slow_threshold_ms: Mapped[int | None]
    failure_threshold: Mapped[int]
    recovery_threshold: Mapped[int]
    retry_interval_seconds: Mapped[int]
    paused: Mapped[bool]
    tags: Mapped[list[str]]
    status: Mapped[str]
    status_changed_at: Mapped[datetime]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    version: Mapped[int]
    search_text: Mapped[str]

    watch: Mapped[Watch] = relationship(lazy="raise", back_populates="monitor", innerjoin=True)
    mute: Mapped[Mute | None] = relationship(lazy="raise")


class Watch(Row):
    __tablename__ = "watches"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    monitor_id: Mapped[UUID] = mapped_column(ForeignKey("monitors.id"))
    due_at: Mapped[datetime | None]
    claim: Mapped[UUID | None]
    next_check_at: Mapped[datetime | None]
    last_checked_at: Mapped[datetime | None]
    last_response_time_ms: Mapped[int | None]
    last_error: Mapped[str | None]
    settled: Mapped[str] = mapped_column(default="pending")
    is_degraded: Mapped[bool] = mapped_column(default=False)
    is_blind: Mapped[bool] = mapped_column(default=False)
    streak: Mapped[int] = mapped_column(default=0)
    streak_started_at: Mapped[datetime | None]
    seen_until: Mapped[datetime | None]

    monitor: Mapped[Monitor] = relationship(lazy="raise", back_populates="watch")


class Mute(Row):
    __tablename__ = "mutes"

    id: Mapped[UUID] = mapped_column(primary_key=True)
    monitor_id: Mapped[UUID] = mapped_column(ForeignKey("monitors.id"))
    muted_until: Mapped[datetime | None]
    muted_by: Mapped[str | None]


class StateChange(Row):
    __tablename__ = "state_changes"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    monitor_id: Mapped[UUID] = mapped_column(ForeignKey("monitors.id"))
    changed_at: Mapped[datetime]
    state: Mapped[str]


class AuditEntry(Row):
    __tablename__ = "audit_entries"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    team_id: Mapped[UUID]
    happened_at: Mapped[datetime]
    actor: Mapped[str]
    actor_client_id: Mapped[str | None]
    address: Mapped[str | None]
    action: Mapped[str]
    subject: Mapped[str]
    subject_id: Mapped[str | None]


class Article(Row):
    __tablename__ = "articles"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    identity: Mapped[str]
    slug: Mapped[str]
    title: Mapped[str | None]
    revision: Mapped[int]
    content_hash: Mapped[str]
    source_time: Mapped[datetime | None]
    source_time_field: Mapped[str | None]
    payload: Mapped[dict[str, Any]]
    received_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    nudged_at: Mapped[datetime]


class Translation(Row):
    __tablename__ = "translations"

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    article_id: Mapped[UUID] = mapped_column(ForeignKey("articles.id"))
    locale: Mapped[str]
    revision: Mapped[int]
    status: Mapped[str]
    attempts: Mapped[int] = mapped_column(default=0)
    due_at: Mapped[datetime]


class Check(Row):
    __tablename__ = "checks"

    monitor_id: Mapped[UUID] = mapped_column(primary_key=True)
    checked_at: Mapped[datetime] = mapped_column(primary_key=True)
    outcome: Mapped[str]
    status_code: Mapped[int | None]
    response_time_ms: Mapped[int | None]
    error: Mapped[str | None]
