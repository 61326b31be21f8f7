"""Checks written by hand: an httpx client, and SQLAlchemy for due monitors and results.

    python httpx_checks.py

It uses one client for all checks, one transaction for each batch, and claims that other processes skip.
"""

import asyncio
import os
import time
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import uvloop
from sqlalchemy import insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import contains_eager

from sqlalchemy_rows import Check, Monitor, Watch, open_sessions

BATCH = 100
PAUSE_SECONDS = 0.1


async def claim(session: AsyncSession) -> list[Watch]:
    """Claim due monitors, most overdue first."""
    now = datetime.now(UTC)
    due = select(Watch).join(Watch.monitor).options(contains_eager(Watch.monitor))
    due = due.where(Watch.due_at <= now).order_by(Watch.due_at).limit(BATCH)
    watches = list(await session.scalars(due.with_for_update(skip_locked=True, of=Watch)))
    held, until = uuid4(), now + timedelta(seconds=75)
    await session.execute(
        update(Watch).where(Watch.id.in_([watch.id for watch in watches])).values(claim=held, due_at=until)
    )
    await session.commit()
    return watches


async def check(client: httpx.AsyncClient, monitor: Monitor) -> dict[str, Any]:
    """Send a monitor's request, and return the result."""
    began, checked_at, status, error = time.perf_counter(), datetime.now(UTC), None, None
    try:
        answer = await client.request(
            monitor.method, monitor.url, headers=monitor.request_headers, timeout=monitor.timeout_seconds
        )
        status = answer.status_code
        is_up = 200 <= status < 300 and (monitor.required_keyword or "") in answer.text
        error = None if is_up else "unexpected_status"
    except httpx.HTTPError as failure:
        error = type(failure).__name__[:32]
    return {
        "monitor_id": monitor.id,
        "checked_at": checked_at,
        "outcome": "down" if error else "up",
        "status_code": status,
        "response_time_ms": round((time.perf_counter() - began) * 1000),
        "error": error,
    }


async def store(session: AsyncSession, watches: list[Watch], found: list[dict[str, Any]]) -> None:
    """Store the results, and update each watch with the outcome and the next due time."""
    intervals: dict[UUID, int] = {watch.monitor_id: watch.monitor.interval_seconds for watch in watches}
    ids: dict[UUID, UUID] = {watch.monitor_id: watch.id for watch in watches}
    await session.execute(insert(Check), found)
    await session.execute(
        update(Watch),
        [
            {
                "id": ids[result["monitor_id"]],
                "claim": None,
                "due_at": result["checked_at"] + timedelta(seconds=intervals[result["monitor_id"]]),
                "last_checked_at": result["checked_at"],
                "last_response_time_ms": result["response_time_ms"],
                "last_error": result["error"],
                "settled": result["outcome"],
            }
            for result in found
        ],
    )
    await session.commit()


async def main() -> None:
    """Check monitors until the process is stopped."""
    engine, sessions = open_sessions()
    limits = httpx.Limits(max_keepalive_connections=0, max_connections=BATCH)
    ca_file = os.environ["CA_FILE"]
    async with httpx.AsyncClient(verify=ca_file, limits=limits, follow_redirects=True) as client:
        while True:
            async with sessions() as session:
                if watches := await claim(session):
                    found = await asyncio.gather(*(check(client, watch.monitor) for watch in watches))
                    await store(session, watches, found)
                else:
                    await asyncio.sleep(PAUSE_SECONDS)
    await engine.dispose()


if __name__ == "__main__":
    uvloop.run(main())
