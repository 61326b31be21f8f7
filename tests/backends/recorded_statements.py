"""What is sent to the database, to be explained by it afterwards."""

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
    """What was sent to the database."""

    sql: str
    values: list[Any]


@contextmanager
def recorded_statements() -> Iterator[list[Statement]]:
    """Collect what Tortoise sends in this thread. Inserts have no plan to speak of."""
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
