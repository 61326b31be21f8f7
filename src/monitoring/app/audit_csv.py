"""The audit log as a file for spreadsheets."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from monitoring.app.audit_words import describe_action
from monitoring.contract.timestamps import write_timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable

    from monitoring.audit.models import AuditEntry

_HEAD = ("happened_at", "actor", "address", "action", "in words", "subject", "subject_id", "changes")

# Spreadsheets take a cell that begins so for a formula, and may run it (OWASP, "CSV injection").
_BEGINS_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_csv(entries: Iterable[AuditEntry]) -> bytes:
    """Write entries as CSV (RFC 4180) in UTF-8, with a mark by which Excel knows that."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(_HEAD)
    writer.writerows([disarm(cell) for cell in _cells_of(entry)] for entry in entries)
    return text.getvalue().encode("utf-8-sig")


def disarm(cell: str) -> str:
    """Put an apostrophe before what a spreadsheet would take for a formula, so that it is shown as text."""
    return f"'{cell}" if cell.startswith(_BEGINS_FORMULA) else cell


def _cells_of(entry: AuditEntry) -> tuple[str, ...]:
    changes = [f"{name}: {old or '(empty)'} → {new or '(empty)'}" for name, old, new in entry.changes or ()]
    return (
        write_timestamp(entry.happened_at),
        entry.actor,
        entry.address or "",
        entry.action,
        describe_action(entry.action),
        entry.subject,
        entry.subject_id or "",
        "; ".join(changes),
    )
