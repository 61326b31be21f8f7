"""Logging to standard error: one line per record, as text or JSON, with the id of the request or article."""

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
    """Set up logging for this process.

    The settings determine this service's log level and whether there is an access log. Libraries log warnings
    and errors only.
    """
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
                # This logger writes a traceback for each failed connection. Our own code reports outages.
                "asyncpg.pool": {"level": "CRITICAL"},
            },
            "root": {"level": "WARNING", "handlers": ["stderr"]},
        }
    )
    logging.captureWarnings(capture=True)
    sys.excepthook = _log_uncaught
    threading.excepthook = lambda thread: _log_uncaught(*thread[:3])


def log_request(request_id: str) -> None:
    """Add a request's id to every record that this task logs from now on."""
    _request_id.set(request_id)


def log_article(article_id: UUID) -> None:
    """Add an article's id to every record that this task logs from now on."""
    _article_id.set(str(article_id))


class RequestIdFilter(logging.Filter):
    """Adds the current request's id to every record as `request_id`. None outside requests."""

    def filter(self, record: LogRecord) -> bool:
        """Add the id, and return True to keep the record."""
        record.request_id = _request_id.get()
        return True


class TraceIdFilter(logging.Filter):
    """Adds the current trace's id to every record as `trace_id`. None outside traces."""

    def filter(self, record: LogRecord) -> bool:
        """Add the id, and return True to keep the record."""
        record.trace_id = current_trace_id()
        return True


class ArticleIdFilter(logging.Filter):
    """Adds the id of the article being processed to every record as `article_id`. None if there is none."""

    def filter(self, record: LogRecord) -> bool:
        """Add the id, and return True to keep the record."""
        record.article_id = _article_id.get()
        return True


class TextFormatter(logging.Formatter):
    """Formats a record as one line, with any traceback indented below.

    Line breaks in messages are escaped, so data from outside cannot forge a line.
    """

    def formatMessage(self, record: LogRecord) -> str:  # noqa: N802 - logging's own
        """Return the record's line."""
        known = vars(record)
        about = [known["request_id"], known["article_id"] and f"article {known['article_id']}"]
        subject = " ".join(filter(None, about)) or "-"
        return _escape(f"{_write_time(record)} {record.levelname} {record.name} [{subject}] {record.message}")

    def formatException(self, ei: Any) -> str:  # noqa: ANN401, N802 - logging's own
        """Return the traceback that follows the line."""
        return _indent(super().formatException(ei))

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - logging's own
        """Return the stack that follows the line."""
        return _indent(stack_info)


class JsonLineFormatter(JsonFormatter):
    """Formats a record as a JSON object on one line, with those `FIELDS` that have a value."""

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
        """Return the time of a record in RFC 3339."""
        return _write_time(record)

    def process_log_record(self, log_data: dict[str, Any]) -> dict[str, Any]:
        """Return the fields that have a value, in the order of `FIELDS`."""
        return {name: log_data[name] for name in FIELDS if log_data.get(name) is not None}


def _write_time(record: LogRecord) -> str:
    """Return a record's time in UTC as RFC 3339, with milliseconds."""
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _indent(text: str) -> str:
    return "\n".join(f"    {_escape(line)}" for line in text.split("\n"))


def _escape(text: str) -> str:
    """Escape characters that are not printable.

    They could begin a line, move the cursor or change the writing direction.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text
    )


def _log_uncaught(
    kind: type[BaseException], error: BaseException | None, traceback: TracebackType | None
) -> None:
    logging.getLogger(__name__).critical("uncaught exception", exc_info=(kind, error or kind(), traceback))
