from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cast import Player, form_team
from monitoring.audit.models import AuditEntry
from monitoring.auth.models import ApiKey, Team
from monitoring.auth.sandboxes import open_sandbox
from monitors.conversations import is_problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

WELL = {"url": "https://up.test/", "paused": False}


@pytest.fixture
def team(service: RunningService) -> Team:
    return form_team(service)


@pytest.fixture
def alice(service: RunningService, team: Team) -> Iterator[Player]:
    """Has a live key."""
    with Player(service, team) as player:
        yield player


@pytest.fixture
def tess(service: RunningService, team: Team) -> Iterator[Player]:
    """Has a test key of the same team."""
    with Player(service, service.run(open_sandbox(team.id))) as player:
        yield player


def create_monitor(player: Player, **fields: Any) -> str:
    monitor_id: str = player.post("/api/monitors", json=WELL | fields).raise_for_status().json()["id"]
    return monitor_id


def ask_for_incident(player: Player, monitor_id: str) -> Any:
    return player.post("/api/sandbox/incidents", json={"monitor_id": monitor_id})


async def read_what_stays(team_id: UUID) -> tuple[int, str]:
    keys, entries = ApiKey.filter(team_id=team_id), AuditEntry.filter(team_id=team_id)
    return await keys.count(), (await entries.order_by("-id").limit(1))[0].action


class TestCreateSandboxIncident:
    def test_opens_one_at_once_and_notifies(self, tess: Player) -> None:
        channel = tess.post(
            "/api/notification-channels", json={"type": "webhook", "url": "https://up.test/hooks"}
        ).json()
        monitor_id = create_monitor(tess)
        answer = ask_for_incident(tess, monitor_id)
        incident = answer.json()
        assert (answer.status_code, incident["state"], incident["monitor_id"]) == (201, "open", monitor_id)
        assert tess.get(answer.headers["Location"]).json() == incident
        assert tess.get(f"/api/monitors/{monitor_id}").json()["status"] == "down"
        path = f"/api/notification-channels/{channel['id']}/deliveries"
        events = [each["event"] for each in tess.get(path).json()["deliveries"]]
        assert events == ["incident.opened"]

    @pytest.mark.parametrize("why", ["paused", "down"])
    def test_needs_a_monitor_that_can_have_one(self, tess: Player, catalogue: Catalogue, why: str) -> None:
        monitor_id = create_monitor(tess, paused=why == "paused")
        if why == "down":
            assert ask_for_incident(tess, monitor_id).status_code == 201
        assert is_problem(ask_for_incident(tess, monitor_id), catalogue, "sandbox_incident_impossible")

    def test_with_a_live_key_is_refused(self, alice: Player, catalogue: Catalogue) -> None:
        monitor_id = create_monitor(alice)
        assert is_problem(ask_for_incident(alice, monitor_id), catalogue, "sandbox_only")
        assert alice.get("/api/incidents").json()["incidents"] == []


class TestResetSandbox:
    def test_leaves_nothing_but_keys_and_the_audit_log(self, service: RunningService, tess: Player) -> None:
        monitor_id = create_monitor(tess)
        ask_for_incident(tess, monitor_id)
        tess.post("/api/notification-channels", json={"type": "webhook", "url": "https://up.test/hooks"})
        tess.post("/api/maintenance-windows", json={"duration_seconds": 600})
        assert tess.post("/api/sandbox/reset").status_code == 204
        for path in ("monitors", "incidents", "notification-channels", "maintenance-windows"):
            listed = tess.get(f"/api/{path}").json()
            assert [rows for rows in listed.values() if rows] == [], path
        assert service.run(read_what_stays(tess.team_id)) == (1, "sandbox.reset")

    def test_makes_room_in_the_plan(self, service: RunningService) -> None:
        small = form_team(service, max_monitors=1)
        with Player(service, service.run(open_sandbox(small.id))) as tess:
            create_monitor(tess)
            assert tess.post("/api/monitors", json=WELL).status_code == 403
            tess.post("/api/sandbox/reset")
            create_monitor(tess)

    def test_touches_no_other_world(self, alice: Player, tess: Player) -> None:
        kept = create_monitor(alice)
        tess.post("/api/sandbox/reset")
        assert alice.get(f"/api/monitors/{kept}").status_code == 200

    def test_with_a_live_key_deletes_nothing(self, alice: Player, catalogue: Catalogue) -> None:
        kept = create_monitor(alice)
        assert is_problem(alice.post("/api/sandbox/reset"), catalogue, "sandbox_only")
        assert alice.get(f"/api/monitors/{kept}").status_code == 200
