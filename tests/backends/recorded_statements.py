"""Records the statements sent to the database, so that tests can have it explain them."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from dataclasses import dataclass
from threading import get_ident
from typing import TYPE_CHECKING, Any

from tortoise.log import db_client_logger

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Statement:
    """A statement sent to the database, and its values."""

    sql: str
    values: list[Any]


@contextmanager
def recorded_statements() -> Iterator[list[Statement]]:
    """Collect the statements that Tortoise sends in this thread, except inserts, whose plans are trivial."""
    statements: list[Statement] = []
    here = get_ident()

    class Recorder(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.thread == here and isinstance(record.args, tuple) and record.msg == "%s: %s":
                sql, values = record.args
                if str(sql).strip().startswith(("SELECT", "UPDATE", "DELETE", "WITH")):
                    statements.append(Statement(str(sql), list(values or ())))  # type: ignore[call-overload]

    recorder, level = Recorder(), db_client_logger.level
    db_client_logger.addHandler(recorder)
    db_client_logger.setLevel(logging.DEBUG)
    try:
        yield statements
    finally:
        db_client_logger.removeHandler(recorder)
        db_client_logger.setLevel(level)
