"""Stores monitors with asyncpg and hand-written SQL statements, each prepared once per connection."""

from __future__ import annotations

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import UUID

import asyncpg
import orjson
from uuid_utils.compat import uuid7

from callers import Key, KeyCache, RateLimiter, Refused, demand_scope, verify_token

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

DEFAULTS: dict[str, Any] = {
    "type": "http",
    "method": "GET",
    "request_headers": {},
    "request_body": None,
    "expected_status_codes": ["2xx"],
    "required_keyword": None,
    "forbidden_keyword": None,
    "assertions": [],
    "contract": None,
    "interval_seconds": 300,
    "timeout_seconds": 15,
    "follow_redirects": True,
    "verify_tls": True,
    "certificate_authority": None,
    "client_certificate": None,
    "tls_expiry_warning_days": 14,
    "slow_threshold_ms": None,
    "failure_threshold": 2,
    "recovery_threshold": 2,
    "retry_interval_seconds": 10,
    "paused": False,
    "tags": [],
}
JSON = ("request_headers", "expected_status_codes", "assertions", "contract", "tags")

CONFIGURED = ("name", "url", *DEFAULTS)
_COLUMNS = ", ".join(f"m.{name}" for name in CONFIGURED)
_SELECT = f"""
    SELECT m.id, m.key, {_COLUMNS}, m.status, m.status_changed_at, w.last_checked_at,
        CASE WHEN m.paused THEN NULL ELSE w.next_check_at END AS next_check_at,
        w.last_response_time_ms, w.last_error,
        CASE WHEN u.id IS NOT NULL THEN
            json_build_object('muted_until', u.muted_until, 'muted_by', u.muted_by)::text
        END AS mute,
        m.created_at, m.updated_at, m.version
    FROM monitors m JOIN watches w ON w.monitor_id = m.id
    LEFT JOIN mutes u ON u.monitor_id = m.id AND (u.muted_until IS NULL OR u.muted_until > now())
"""  # noqa: S608 - names of our own
LIST = f"{_SELECT} WHERE m.team_id = $1 ORDER BY m.id DESC LIMIT $2"
LIST_AFTER = f"{_SELECT} WHERE m.team_id = $1 AND m.id < $3 ORDER BY m.id DESC LIMIT $2"
GET = f"{_SELECT} WHERE m.team_id = $1 AND m.id = $2"
FIND_KEY = """
    SELECT team_id, scopes, name, last_used_at FROM api_keys WHERE client_id = $1 AND revoked_at IS NULL
"""
USE_KEY = "UPDATE api_keys SET last_used_at = $2 WHERE client_id = $1"
INSERT = f"""
    WITH place AS (
        UPDATE teams SET monitors_count = monitors_count + 1 WHERE id = $2 AND monitors_count < max_monitors
        RETURNING id
    ), monitor AS (
        INSERT INTO monitors (id, team_id, {", ".join(CONFIGURED)}, status, status_changed_at, created_at,
                              updated_at, version, search_text)
        SELECT $1, place.id, {", ".join(f"${n}" for n in range(3, len(CONFIGURED) + 4))},
               ${len(CONFIGURED) + 4}, ${len(CONFIGURED) + 4}, ${len(CONFIGURED) + 4}, 1,
               ${len(CONFIGURED) + 5} FROM place
        RETURNING id, team_id, name, paused, status, created_at
    ), watch AS (
        INSERT INTO watches (id, monitor_id, due_at, next_check_at, settled, is_degraded, is_blind, streak)
        SELECT ${len(CONFIGURED) + 6}, id, CASE WHEN paused THEN NULL ELSE created_at END, created_at,
               'pending', false, false, 0 FROM monitor
    ), entry AS (
        INSERT INTO audit_entries (id, team_id, happened_at, actor, actor_client_id, address, action, subject,
                                   subject_id)
        SELECT ${len(CONFIGURED) + 8}, team_id, created_at, ${len(CONFIGURED) + 9}, ${len(CONFIGURED) + 10},
               ${len(CONFIGURED) + 11}, 'monitor.created', name, id::text FROM monitor
    )
    INSERT INTO state_changes (id, monitor_id, changed_at, state)
    SELECT ${len(CONFIGURED) + 7}, id, created_at, status FROM monitor
"""  # noqa: S608 - names of our own


class Rows:
    """The database and Redis connections of a peer without an ORM."""

    pool: asyncpg.Pool
    keys: KeyCache
    limiter: RateLimiter

    @asynccontextmanager
    async def open(self, _: object) -> AsyncIterator[None]:
        """Open the database and Redis while the application runs."""
        self.limiter = RateLimiter()
        self.keys = KeyCache(self.find_living_key)
        async with asyncpg.create_pool(os.environ["DATABASE_URL"], min_size=1, max_size=10) as self.pool:
            yield
        await self.limiter.close()

    async def let_in(self, authorization: str | None, scope: str) -> tuple[Key, dict[str, str]]:
        """Return the caller's key, and the headers of the rate limit."""
        claims = verify_token(authorization)
        key = await self.keys.find(claims.client_id)
        headers = await self.limiter.count(claims.client_id)
        demand_scope(claims, key, scope)
        return key, headers

    async def find_living_key(self, client_id: str) -> Key | None:
        """Return a key if it is not revoked, and record once an hour that the key was used."""
        row = await self.pool.fetchrow(FIND_KEY, client_id)
        if row is None:
            return None
        now = datetime.now(UTC)
        if row["last_used_at"] is None or now - row["last_used_at"] > timedelta(hours=1):
            await self.pool.execute(USE_KEY, client_id, now)
        return Key(client_id, row["team_id"], frozenset(orjson.loads(row["scopes"])), row["name"])

    async def fetch_page(
        self, team_id: UUID, limit: int, cursor: str | None
    ) -> tuple[list[asyncpg.Record], str | None]:
        """Return a page of monitors, newest first, and the cursor of the next page."""
        if cursor:
            rows = await self.pool.fetch(LIST_AFTER, team_id, limit + 1, _read_cursor(cursor))
        else:
            rows = await self.pool.fetch(LIST, team_id, limit + 1)
        last = rows[limit - 1]["id"] if len(rows) > limit else None
        return rows[:limit], urlsafe_b64encode(last.bytes)[:22].decode() if last else None

    async def fetch_one(self, team_id: UUID, monitor_id: UUID) -> asyncpg.Record:
        """Return one monitor of the team."""
        row = await self.pool.fetchrow(GET, team_id, monitor_id)
        if row is None:
            raise Refused(404, "Monitor not found")
        return row

    async def insert(self, by: Key, address: str | None, given: dict[str, Any]) -> dict[str, Any]:
        """Create a monitor within the team's plan, and return it.

        Also inserts the monitor's watch, its first state, and an audit log entry.
        """
        configured = {"name": (urlsplit(given["url"]).hostname or "")[:100], **DEFAULTS, **given}
        check_together(configured)
        now, monitor_id = datetime.now(UTC), uuid7()
        status = "paused" if configured["paused"] else "pending"
        search_text = f"{configured['name']}\n{configured['url']}".casefold()
        given_json = {name: configured[name] for name in JSON if configured[name] is not None}
        values = configured | {name: orjson.dumps(value).decode() for name, value in given_json.items()}
        inserted = await self.pool.execute(
            INSERT,
            *(monitor_id, by.team_id, *(values[name] for name in CONFIGURED)),
            *(status, now, search_text, uuid7(), uuid7()),
            *(uuid7(), f"API key {by.name}", by.client_id, address),
        )
        if inserted == "INSERT 0 0":
            raise Refused(403, "Monitor limit reached")
        return {
            "id": monitor_id,
            "key": None,
            **{name: configured[name] for name in CONFIGURED},
            "status": status,
            "status_changed_at": now,
            "last_checked_at": None,
            "next_check_at": None if configured["paused"] else now,
            "last_response_time_ms": None,
            "last_error": None,
            "mute": None,
            "created_at": now,
            "updated_at": now,
        }


def check_together(configured: dict[str, Any]) -> None:
    """Raise `Refused` for an invalid combination of fields."""
    if configured["timeout_seconds"] >= configured["interval_seconds"]:
        raise Refused(400, "timeout_seconds: must be below interval_seconds")
    if configured["method"] in ("GET", "HEAD") and configured["request_body"] is not None:
        raise Refused(400, "request_body: must be null with GET and HEAD")
    if configured["method"] == "HEAD" and (configured["required_keyword"] or configured["forbidden_keyword"]):
        raise Refused(400, "keywords must be null with HEAD")
    ranges = [codes.partition("-") for codes in configured["expected_status_codes"]]
    if any(low > high for low, _, high in ranges if high):
        raise Refused(400, "expected_status_codes: a range must not be reversed")


def _read_cursor(cursor: str) -> UUID:
    if len(cursor) != 22:
        raise Refused(400, "cursor: must be a cursor of a list")
    return UUID(bytes=urlsafe_b64decode(f"{cursor}=="))
