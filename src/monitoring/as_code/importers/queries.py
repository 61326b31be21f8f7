"""Queries that importers send to the databases of other programs."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

_MONITORS = "SELECT * FROM monitor ORDER BY id"
_TAGS = "SELECT monitor_id, name FROM monitor_tag JOIN tag ON tag.id = tag_id ORDER BY monitor_tag.id"


def read_kuma(path: Path) -> tuple[list[dict[str, Any]], list[tuple[int, str]]]:
    """Return Uptime Kuma's monitors, and pairs of monitor id and tag name. Raises `sqlite3.DatabaseError`."""
    with closing(sqlite3.connect(path)) as connection:
        tags = connection.execute(_TAGS).fetchall()
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(_MONITORS)], tags
