"""Lets monitors go down and recover, at times that tests know."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from monitoring.incidents.models import Resolution
from monitoring.incidents.service import Opening, open_incidents, resolve_incident

if TYPE_CHECKING:
    from uuid import UUID

    from monitoring.contract.document import Json
    from monitoring.notifications.monitor_subjects import MonitorSubject

STARTED_AT = datetime(2026, 11, 20, 9, 39, 50, 3000, tzinfo=UTC)
CONFIRMED_AT = datetime(2026, 11, 20, 9, 40, 0, 183000, tzinfo=UTC)
RESOLVED_AT = CONFIRMED_AT + timedelta(minutes=5)
SENTENCE = "Answered 503 instead of 2xx"


async def open_incident(  # noqa: PLR0913 - what an incident is
    monitor: MonitorSubject,
    *,
    started_at: datetime,
    confirmed_at: datetime,
    error: str,
    error_message: str,
    answer: dict[str, Json] | None = None,
) -> list[UUID]:
    """Open an incident, unless one is open already, and announce it. Returns deliveries to nudge."""
    opening = Opening(
        monitor=monitor,
        started_at=started_at,
        confirmed_at=confirmed_at,
        error=error,
        error_message=error_message,
        answer=answer,
    )
    return await open_incidents([opening])


async def break_down(monitor: MonitorSubject, answer: dict[str, Json] | None = None) -> list[UUID]:
    """Open an incident as checks would."""
    return await open_incident(
        monitor,
        started_at=STARTED_AT,
        confirmed_at=CONFIRMED_AT,
        error="unexpected_status",
        error_message=SENTENCE,
        answer=answer,
    )


async def resolve(monitor: MonitorSubject, resolution: Resolution = Resolution.RECOVERED) -> list[UUID]:
    return await resolve_incident(monitor, resolved_at=RESOLVED_AT, resolution=resolution)
