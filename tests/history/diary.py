"""The diary of a monitor: made-up checks that tests write down as if they were real."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from monitoring.auth.service import create_team
from monitoring.backends.assembly import open_backends
from monitoring.backends.database import transaction
from monitoring.history.models import CheckResult
from monitoring.history.queries import insert_results
from monitoring.monitors import rules
from monitoring.monitors.configuration import default_configuration
from monitoring.monitors.models import Monitor, Watch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from uuid import UUID

    from monitoring.backends.assembly import Backends

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


async def make_monitors(count: int = 1) -> list[Monitor]:
    """Make monitors in a team of their own that no checker knows of, with ids in order."""
    team = await create_team(f"Team {uuid4()}", "free", count)
    configuration = rules.complete({"url": "https://shop.example.com/"}, default_configuration())
    ages: dict[str, Any] = {"status_changed_at": NOON, "created_at": NOON, "updated_at": NOON}
    for _ in range(count):
        monitor = await Monitor.create(
            team_id=team.id, status="pending", search_text="", **ages, **configuration
        )
        await Watch.create(monitor_id=monitor.id)
    return await Monitor.filter(team_id=team.id).order_by("id").select_related("watch")


def make_result(
    monitor_id: UUID,
    checked_at: datetime = NOON,
    outcome: str = "up",
    response_time_ms: int | None = 128,
    **fields: Any,
) -> CheckResult:
    unknown = dict.fromkeys(("dns_ms", "connect_ms", "tls_ms", "first_byte_ms", "error", "error_message"))
    return CheckResult(
        monitor_id=monitor_id,
        checked_at=checked_at,
        outcome=outcome,
        response_time_ms=response_time_ms,
        **{"status_code": 200, **unknown, **fields},
    )


async def write_down(results: Sequence[CheckResult]) -> None:
    """Store results, as the checker does."""
    async with transaction() as connection:
        await insert_results(connection, results)


@asynccontextmanager
async def another_process_did(backends: Backends, sql: str) -> AsyncIterator[None]:
    """Let another process do something in a transaction that ends with the block."""
    async with open_backends(backends.settings) as others:
        with others.activate():
            async with transaction() as connection:
                await connection.execute_query(sql)
                with backends.activate():
                    yield
