"""Inserts the rows that every program starts with: teams with a key and monitors.

They are the same in every database.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode
from urllib.request import urlopen

import asyncpg  # type: ignore[import-untyped]
import orjson
from uuid_utils.compat import uuid7

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

TEAMS = 20
MONITORS_A_TEAM = 60  # more than a page of 50, so that the page ends with a cursor
NO_CAP = 1_000_000_000

SCOPES = '["monitors:read","monitors:write"]'

# A client's request to create a monitor: about half of the fields, as in the document's example.
NEW_MONITOR = {
    "name": "Checkout of the storefront",
    "url": "https://shop.example.com/checkout/health?region=eu-west",
    "method": "GET",
    "request_headers": {"Accept": "application/json", "X-Probe": "checkout"},
    "expected_status_codes": ["2xx", "301"],
    "required_keyword": '"status":"ok"',
    "interval_seconds": 60,
    "timeout_seconds": 10,
    "failure_threshold": 3,
    "tags": ["shop", "production"],
}


@dataclass(frozen=True)
class Owner:
    """A team, its key, and its monitors, newest first."""

    team_id: UUID
    client_id: str
    client_secret: str
    monitor_ids: Sequence[UUID]


async def sow(database_url: str, monitors_a_team: int = MONITORS_A_TEAM, teams: int = TEAMS) -> list[Owner]:
    """Insert teams, keys and monitors that are up into a migrated database."""
    connection = await asyncpg.connect(database_url, ssl=False)
    try:
        return [await _sow_team(connection, number, monitors_a_team) for number in range(teams)]
    finally:
        await connection.execute("ANALYZE")
        await connection.close()


def issue_token(port: int, owner: Owner) -> str:
    """Get a token from the service, as a client does. Every peer accepts it."""
    form = urlencode({"client_id": owner.client_id, "client_secret": owner.client_secret}).encode()
    with urlopen(f"http://127.0.0.1:{port}/api/oauth/token", form) as answer:
        token: str = orjson.loads(answer.read())["access_token"]
        return token


async def _sow_team(connection: asyncpg.Connection, number: int, monitors: int) -> Owner:
    now = datetime.now(UTC)
    owner = Owner(
        uuid7(),
        f"mon_live_{secrets.token_urlsafe(18)}",
        f"mon_secret_{secrets.token_urlsafe(32)}",
        [uuid7() for _ in range(monitors)][::-1],
    )
    await connection.execute(
        "INSERT INTO teams (id, name, plan, max_monitors, monitors_count, created_at)"
        " VALUES ($1, $2, 'business', $3, $4, $5)",
        *(owner.team_id, f"Team {number}", NO_CAP, monitors, now),
    )
    await connection.execute(
        "INSERT INTO api_keys (id, team_id, client_id, secret_sha256, name, scopes, created_at, last_used_at)"
        " VALUES ($1, $2, $3, $4, 'Deploy', $5, $6, $6)",
        *(uuid7(), owner.team_id, owner.client_id),
        *(hashlib.sha256(owner.client_secret.encode()).hexdigest(), SCOPES, now),
    )
    await sow_monitors(connection, owner.team_id, list(owner.monitor_ids), now)
    return owner


async def sow_monitors(
    connection: asyncpg.Connection, team_id: UUID, ids: Sequence[UUID], now: datetime
) -> None:
    """Insert monitors with COPY, each with its watch and its changes of state."""
    new, changed_at = NEW_MONITOR, now - timedelta(days=3)
    texts = {name: orjson.dumps(new[name]).decode() for name in _JSON}
    shared = {
        **new,
        **texts,
        "team_id": team_id,
        "follow_redirects": True,
        "verify_tls": True,
        "tls_expiry_warning_days": 14,
        "recovery_threshold": 2,
        "paused": False,
        "status": "up",
        "status_changed_at": changed_at,
        "created_at": changed_at,
        "updated_at": now,
        "version": 1,
        "encrypted_headers": "",
        "search_text": f"{new['name']}\n{new['url']}".casefold(),
    }
    columns = ["id", *shared]
    values = tuple(shared.values())
    await connection.copy_records_to_table(
        "monitors", columns=columns, records=((id_, *values) for id_ in ids)
    )
    watch = {
        "due_at": now + timedelta(minutes=1),
        "next_check_at": now + timedelta(minutes=1),
        "last_checked_at": now,
        "last_response_time_ms": 87,
        "settled": "up",
        "is_degraded": False,
        "is_blind": False,
        "streak": 0,
        "seen_until": now + timedelta(minutes=3),
    }
    await connection.copy_records_to_table(
        "watches",
        columns=["id", "monitor_id", *watch],
        records=((uuid7(), id_, *watch.values()) for id_ in ids),
    )
    await connection.copy_records_to_table(
        "state_changes",
        columns=["id", "monitor_id", "changed_at", "state"],
        records=((uuid7(), id_, changed_at, "up") for id_ in ids),
    )


_JSON = ("request_headers", "expected_status_codes", "tags")
