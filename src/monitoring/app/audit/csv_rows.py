"""The audit log as a file for spreadsheets."""

from __future__ import annotations

from collections.abc import Iterable

from monitoring.app.audit.labels import describe_action
from monitoring.app.csv_files import write_rows
from monitoring.audit.models import AuditEntry

_HEAD = ("happened_at", "actor", "address", "action", "in words", "subject", "subject_id", "changes")


def write_head() -> bytes:
    """Write the beginning of a file in UTF-8, with a mark by which Excel knows that."""
    return write_rows([_HEAD]).encode("utf-8-sig")


def write_entries(entries: Iterable[AuditEntry]) -> bytes:
    """Write a piece of the file."""
    return write_rows(map(_cells_of, entries)).encode()


def _cells_of(entry: AuditEntry) -> tuple[object, ...]:
    changes = [f"{name}: {old or '(empty)'} → {new or '(empty)'}" for name, old, new in entry.changes or ()]
    return (
        entry.happened_at,
        entry.actor,
        entry.address,
        entry.action,
        describe_action(entry.action, entry.subject),
        entry.subject,
        entry.subject_id,
        "; ".join(changes),
    )
