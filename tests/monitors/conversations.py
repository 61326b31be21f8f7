"""Steps that many tests share: create a monitor, read it, compare an answer with an error of the document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from monitoring.auth.models import Team
from monitoring.monitors.models import Monitor

if TYPE_CHECKING:
    from uuid import UUID

    import httpx

    from monitoring.contract.catalogue import Catalogue

MONITORS = "/api/monitors"
URL = "https://shop.example.com/health"


def create(player: httpx.Client, **fields: Any) -> dict[str, Any]:
    answer = player.post(MONITORS, json={"url": URL, **fields})
    assert answer.status_code == 201, answer.text
    monitor: dict[str, Any] = answer.json()
    return monitor


def path_of(monitor: dict[str, Any]) -> str:
    return f"{MONITORS}/{monitor['id']}"


def read(player: httpx.Client, monitor: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = player.get(path_of(monitor)).raise_for_status().json()
    return found


def list_ids(player: httpx.Client, **query: Any) -> list[str]:
    page = player.get(MONITORS, params=query).raise_for_status().json()
    return [monitor["id"] for monitor in page["monitors"]]


def is_problem(answer: httpx.Response, catalogue: Catalogue, name: str, /, **values: Any) -> bool:
    """Say whether an answer is exactly this error of the document."""
    expected = catalogue.respond(name, values=values)
    return (answer.status_code, answer.json()) == (expected.status, expected.body)


async def count_twice(team_id: UUID) -> tuple[int, int]:
    """Return a team's number of monitors: the one stored in its row, and the real one."""
    team = await Team.get(id=team_id)
    return team.monitors_count, await Monitor.filter(team_id=team_id).count()
