"""Logging: one record a line on standard error, as text or JSON, with the request or article it is about."""

from __future__ import annotations

import logging.config
import sys
import threading
from contextvars import ContextVar
from datetime import UTC, datetime
from logging import LogRecord
from types import TracebackType
from typing import Any
from uuid import UUID

from pythonjsonlogger.json import JsonFormatter

from monitoring.settings import Settings
from monitoring.tracing import current_trace_id

# The fields of a JSON line, in order: those of every record, of some records, and of the access log.
FIELDS = (
    *("timestamp", "level", "logger", "message", "process_id"),
    *("request_id", "trace_id", "article_id", "exc_info", "stack_info"),
    *("method", "path", "operation", "status", "duration_ms", "client_address"),
)

_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
_article_id: ContextVar[str | None] = ContextVar("article_id", default=None)


def configure_logging(settings: Settings) -> None:
    """Set up logging for this process: warnings from libraries, and the access log if it is switched on."""
    logging.config.dictConfig(
        {
            "version": 1,
            "disable_existing_loggers": False,
            "filters": {
                "request_id": {"()": RequestIdFilter},
                "trace_id": {"()": TraceIdFilter},
                "article_id": {"()": ArticleIdFilter},
            },
            "formatters": {"text": {"()": TextFormatter}, "json": {"()": JsonLineFormatter}},
            "handlers": {
                "stderr": {
                    "class": "logging.StreamHandler",
                    "filters": ["request_id", "trace_id", "article_id"],
                    "formatter": settings.log_format,
                }
            },
            "loggers": {
                "monitoring": {"level": settings.log_level.upper()},
                "monitoring.access": {"level": "INFO" if settings.access_log else "CRITICAL"},
                # It logs a traceback at each failed connection, which our own code reports anyway.
                "asyncpg.pool": {"level": "CRITICAL"},
            },
            "root": {"level": "WARNING", "handlers": ["stderr"]},
        }
    )
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda thread: _log_uncaught(*thread[:3])


def log_request(request_id: str) -> None:
    """Name a request in every record that this task logs from here on."""
    _request_id.set(request_id)


def log_article(article_id: UUID) -> None:
    """Name an article in every record that this task logs from here on."""
    _article_id.set(str(article_id))


class RequestIdFilter(logging.Filter):
    """Adds to every record the `request_id` that it was written under, or None."""

    def filter(self, record: LogRecord) -> bool:
        """Let every record pass."""
        record.request_id = _request_id.get()
        return True


class TraceIdFilter(logging.Filter):
    """Adds to every record the `trace_id` that it was written under, or None."""

    def filter(self, record: LogRecord) -> bool:
        """Let every record pass."""
        record.trace_id = current_trace_id()
        return True


class ArticleIdFilter(logging.Filter):
    """Adds to every record the `article_id` it is about, or None."""

    def filter(self, record: LogRecord) -> bool:
        """Let every record pass."""
        record.article_id = _article_id.get()
        return True


class TextFormatter(logging.Formatter):
    """One line a record, with tracebacks indented below. Nothing a stranger sends can begin a line."""

    def formatMessage(self, record: LogRecord) -> str:  # noqa: N802 - logging's own
        """Write the line."""
        known = vars(record)
        about = [known["request_id"], known["article_id"] and f"article {known['article_id']}"]
        subject = " ".join(filter(None, about)) or "-"
        return _escape(f"{_write_time(record)} {record.levelname} {record.name} [{subject}] {record.message}")

    def formatException(self, ei: Any) -> str:  # noqa: ANN401, N802 - logging's own
        """Write a traceback below the line."""
        return _indent(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - logging's own
        """Write a stack below the line."""
        return _indent(stack_info)


class JsonLineFormatter(JsonFormatter):
    """One JSON object a line, with those `FIELDS` that have a value."""

    def __init__(self) -> None:
        super().__init__(
            ["asctime", "levelname", "name", "message", "process"],
            rename_fields={
                "asctime": "timestamp",
                "levelname": "level",
                "name": "logger",
                "process": "process_id",
            },
        )

    def formatTime(self, record: LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002, N802
        """Write the time of a record."""
        return _write_time(record)

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        """Choose and order the fields."""
        return {name: log_data[name] for name in FIELDS if log_data.get(name) is not None}


def _write_time(record: LogRecord) -> str:
    """Write RFC 3339 in UTC, to the millisecond."""
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _indent(text: str) -> str:
    return "\n".join(f"    {_escape(line)}" for line in text.split("\n"))


def _escape(text: str) -> str:
    """Make characters visible that would begin a line, move the cursor or turn the direction of writing."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )


def _log_uncaught(
    kind: type[BaseException], error: BaseException | None, traceback: TracebackType | None
) -> None:
    logging.getLogger(__name__).critical("uncaught exception", exc_info=(kind, error or kind(), traceback))
