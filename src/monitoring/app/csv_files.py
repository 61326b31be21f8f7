"""Formats tables as CSV (RFC 4180), for spreadsheets. Has no side effects."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from datetime import datetime
from io import StringIO

from monitoring.contract.timestamps import write_timestamp

# Spreadsheets treat text that begins with one of these characters as a formula (OWASP, CSV injection). Some
# spreadsheets also accept the characters' full-width forms.
_FORMULA_STARTS = (
    *("=", "+", "-", "@", "\t", "\r", "\n"),
    "\N{FULLWIDTH EQUALS SIGN}",
    "\N{FULLWIDTH PLUS SIGN}",
    "\N{FULLWIDTH HYPHEN-MINUS}",
    "\N{FULLWIDTH COMMERCIAL AT}",
)


def write_rows(rows: Iterable[Sequence[object]]) -> str:
    """Return rows as CSV. Times are written in UTC, and None as an empty cell.

    Text that a spreadsheet would treat as a formula gets the prefix `'`.
    """
    written = StringIO()
    csv.writer(written).writerows([_write_cell(value) for value in row] for row in rows)
    return written.getvalue()


def _write_cell(value: object) -> object:
    if isinstance(value, datetime):
        return write_timestamp(value)
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value
