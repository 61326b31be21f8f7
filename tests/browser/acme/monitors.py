"""Acme's monitors: one of every state, some with months of history, and each with a full last day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from browser.acme.answers import NO_ANSWER, Trouble
from browser.acme.days import DAY, HOUR
from browser.acme.history import tell_incidents, write_history
from browser.acme.maintenance import BEGUN, EARLIER
from browser.acme.people import join
from monitoring.auth.service import create_team
from monitoring.history.rollups import roll_up
from monitoring.members.models import Role
from monitoring.monitors.service import create_monitor, update_monitor

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from browser.acme.history import Turn
    from browser.acme.people import Member
    from monitoring.auth.models import Team

SHOP = {
    "name": "Web shop",
    "url": "https://shop.acme.example/",
    "interval_seconds": 60,
    "tags": ["shop", "public"],
    "required_keyword": "Add to basket",
    "slow_threshold_ms": 1500,
}
CHECKOUT = {
    "name": "Checkout API",
    "url": "https://api.acme.example/v2/checkout/health",
    "method": "POST",
    "request_headers": {"Accept": "application/json", "Authorization": "Bearer a-probes-token"},
    "request_body": '{"dry_run": true}',
    "expected_status_codes": ["200", "202"],
    "interval_seconds": 120,
    "slow_threshold_ms": 400,
    "tags": ["shop", "api"],
}
NEWSLETTER = {
    "name": "Newsletter sign-up",
    "url": "https://mail.acme.example/subscribe?list=weekly",
    "interval_seconds": 120,
    "tags": ["marketing"],
}
SEARCH = {
    "name": "Search",
    "url": "https://search.acme.example/?q=shoes",
    "interval_seconds": 120,
    "tags": ["shop", "public"],
}
DOCUMENTATION = {
    "name": "Documentation",
    "url": "https://docs.acme.example/",
    "interval_seconds": 300,
    "tags": ["public"],
}
OLD_SHOP = {
    "name": "Old shop, read only until the end of the year",
    "url": "https://legacy.acme.example/catalogue/index.php?session=none&language=en&currency=eur&page=1",
    "tags": ["shop", "legacy"],
}
BLOG = {
    "name": "Blog",
    "url": "https://blog.acme.example/",
    "interval_seconds": 120,
    "tags": ["blog", "public"],
}
STATUS_PAGE = {"name": "Status page", "url": "https://status.acme.example/"}


@dataclass(frozen=True, slots=True)
class Story:
    """A monitor and what happened to it. Without a typical response time it was never checked."""

    given: Mapping[str, Any]
    typical_ms: int | None = None
    age: timedelta = timedelta()
    troubles: tuple[Trouble, ...] = ()
    maintenance: tuple[tuple[timedelta, timedelta], ...] = ()


MINUTE = timedelta(minutes=1)
MONTHS = 95 * DAY

STORIES = {
    "paused": Story(OLD_SHOP, 310, 2 * DAY),
    "maintenance": Story(
        BLOG,
        210,
        6 * DAY,
        (
            Trouble(8 * HOUR + 40 * MINUTE, 35 * MINUTE, status_code=503),
            Trouble(20 * MINUTE, 9 * MINUTE, status_code=502),
        ),
        (EARLIER, (BEGUN, BEGUN)),
    ),
    "quick": Story(DOCUMENTATION, 48, MONTHS, (Trouble(5 * DAY + 4 * HOUR, 42 * MINUTE, failure=NO_ANSWER),)),
    "recovered": Story(
        SEARCH,
        140,
        MONTHS,
        (
            Trouble(43 * DAY + 6 * HOUR, 12 * MINUTE, status_code=502),
            Trouble(7 * HOUR, 23 * MINUTE, status_code=502),
            Trouble(16 * HOUR, 70 * MINUTE, slower_by_ms=180),
        ),
    ),
    "down": Story(
        NEWSLETTER,
        95,
        MONTHS,
        (
            Trouble(78 * DAY + 3 * HOUR, 8 * MINUTE, status_code=503),
            Trouble(69 * DAY, 9 * DAY, slower_by_ms=45),
            Trouble(51 * DAY + 7 * HOUR, 6 * MINUTE, failure=NO_ANSWER),
            Trouble(50 * DAY + 2 * HOUR, 83 * MINUTE, failure=NO_ANSWER),
            Trouble(17 * DAY - 5 * HOUR, 11 * MINUTE, status_code=503),
            Trouble(37 * MINUTE, HOUR, status_code=503),
        ),
    ),
    "degraded": Story(CHECKOUT, 180, 3 * DAY, (Trouble(95 * MINUTE, 3 * HOUR, slower_by_ms=320),)),
    "up": Story(
        SHOP,
        120,
        MONTHS,
        (
            Trouble(66 * DAY + 9 * HOUR, 7 * MINUTE, status_code=502),
            Trouble(28 * DAY, 4 * DAY, slower_by_ms=60),
            Trouble(11 * HOUR, 4 * MINUTE, failure=NO_ANSWER),
        ),
    ),
    "pending": Story(STATUS_PAGE),
}


async def own_monitors(count: int) -> Member:
    """Make the owner of another team with so many monitors, of which one in forty is down."""
    team, now = await create_team(f"{count} monitors", "business", count), datetime.now(UTC)
    turns: list[Turn] = []
    for number in range(count):
        tag = ("shop", "blog", "api", "search")[number % 4]
        given = {"name": f"{tag} {number}", "url": f"https://{number}.acme.example/", "tags": [tag]}
        troubles = (Trouble(HOUR, HOUR, status_code=503),) if number % 40 == 1 else ()
        monitor = await create_monitor(team.id, given)
        turns += await write_history(monitor, now, typical_ms=60 + number, troubles=troubles, age=2 * HOUR)
    await tell_incidents(turns)
    return await join(team, Role.OWNER)


async def make_monitors(team: Team, now: datetime) -> dict[str, UUID]:
    """Make the monitors, and return their ids by what they show."""
    made: dict[str, UUID] = {}
    turns: list[Turn] = []
    for shows, story in STORIES.items():
        monitor = await create_monitor(team.id, story.given)
        made[shows] = monitor.id
        if story.typical_ms is not None:
            turns += await write_history(
                monitor,
                now,
                typical_ms=story.typical_ms,
                troubles=story.troubles,
                age=story.age,
                maintenance=story.maintenance,
            )
    await tell_incidents(turns)
    await update_monitor(team.id, made["paused"], {"paused": True})
    await roll_up(now)
    return made
