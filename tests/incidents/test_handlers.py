from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from incidents.breakdowns import SENTENCE, break_down, resolve
from monitoring.monitors.models import Monitor
from monitors.conversations import create, is_problem, path_of

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

INCIDENTS = "/api/incidents"


def let_break(service: RunningService, monitor: dict[str, Any], *, recovers: bool = False) -> None:
    """Give a monitor an incident."""

    async def fail() -> None:
        row = await Monitor.get(id=monitor["id"])
        await break_down(row)
        if recovers:
            await resolve(row)

    service.run(fail())


def list_incidents(player: httpx.Client, **query: Any) -> list[dict[str, Any]]:
    page = player.get(INCIDENTS, params=query).raise_for_status().json()
    incidents: list[dict[str, Any]] = page["incidents"]
    return incidents


def make_paused(player: Player) -> dict[str, Any]:
    """Create a paused monitor, so that only the test opens its incidents."""
    return create(player, paused=True)


class TestList:
    def test_shows_an_incident_as_it_is(self, service: RunningService, alice: Player) -> None:
        monitor = make_paused(alice)
        let_break(service, monitor)
        (incident,) = list_incidents(alice)
        assert UUID(incident.pop("id")).version == 7
        assert incident == {
            "monitor_id": monitor["id"],
            "state": "open",
            "started_at": "2026-11-20T09:39:50.003000Z",
            "confirmed_at": "2026-11-20T09:40:00.183000Z",
            "acknowledged_at": None,
            "acknowledged_by": None,
            "resolved_at": None,
            "resolution": None,
            "error": "unexpected_status",
            "error_message": SENTENCE,
        }

    def test_is_filtered_by_monitor_and_state(self, service: RunningService, alice: Player) -> None:
        shop, blog = make_paused(alice), make_paused(alice)
        let_break(service, shop, recovers=True)
        let_break(service, shop)
        let_break(service, blog)
        at_blog, at_shop, at_shop_before = list_incidents(alice)
        assert list_incidents(alice, monitor_id=shop["id"]) == [at_shop, at_shop_before]
        assert list_incidents(alice, state="open") == [at_blog, at_shop]
        assert list_incidents(alice, state="resolved") == [at_shop_before]
        assert list_incidents(alice, state="resolved", monitor_id=blog["id"]) == []
        assert at_shop_before["resolved_at"] == "2026-11-20T09:45:00.183000Z"
        assert at_shop_before["resolution"] == "recovered"

    def test_goes_on_showing_incidents_of_a_monitor_that_is_gone(
        self, service: RunningService, alice: Player, charlie: Player
    ) -> None:
        gone, there = make_paused(alice), make_paused(alice)
        for monitor in (gone, there):
            let_break(service, monitor)
        alice.delete(path_of(gone)).raise_for_status()
        (incident,) = list_incidents(alice, monitor_id=gone["id"])
        assert (incident["state"], incident["resolution"]) == ("resolved", "deleted")
        assert alice.get(f"{INCIDENTS}/{incident['id']}").json() == incident
        assert [each["monitor_id"] for each in list_incidents(alice)] == [there["id"], gone["id"]]
        assert list_incidents(alice, monitor_id=gone["id"], state="open") == []
        assert list_incidents(charlie, monitor_id=gone["id"]) == []

    def test_is_newest_first_and_paged(self, service: RunningService, alice: Player) -> None:
        monitor = make_paused(alice)
        for _ in range(3):
            let_break(service, monitor, recovers=True)
        incidents = list_incidents(alice)
        assert incidents == sorted(incidents, key=lambda incident: UUID(incident["id"]), reverse=True)
        first = alice.get(INCIDENTS, params={"limit": 2}).json()
        assert first["incidents"] == incidents[:2]
        second = alice.get(INCIDENTS, params={"limit": 2, "cursor": first["next_cursor"]}).json()
        assert (second["incidents"], second["next_cursor"]) == (incidents[2:], None)

    def test_is_for_bob_too_and_shows_charlie_nothing(
        self, service: RunningService, alice: Player, bob: Player, charlie: Player
    ) -> None:
        monitor = make_paused(alice)
        let_break(service, monitor)
        assert list_incidents(bob) == list_incidents(alice)
        assert list_incidents(charlie) == list_incidents(charlie, monitor_id=monitor["id"]) == []

    def test_is_not_for_strangers(self, mallory: httpx.Client) -> None:
        assert mallory.get(INCIDENTS).status_code == 401

    @pytest.mark.parametrize("query", [{"state": "broken"}, {"monitor_id": "1"}, {"cursor": "x"}])
    def test_refuses_what_the_document_does_not_allow(self, alice: Player, query: dict[str, str]) -> None:
        assert alice.get(INCIDENTS, params=query).status_code == 400


class TestGet:
    def test_shows_the_incident_of_the_list_to_bob_too(
        self, service: RunningService, alice: Player, bob: Player
    ) -> None:
        let_break(service, make_paused(alice))
        (incident,) = list_incidents(alice)
        assert bob.get(f"{INCIDENTS}/{incident['id']}").json() == incident

    @pytest.mark.parametrize("incident_id", ["019a9c3e-5b7a-7c1e-9d42-000000000000", "1", "%7B%7D"])
    def test_of_an_id_that_nobody_has_is_a_404(
        self, alice: Player, catalogue: Catalogue, incident_id: str
    ) -> None:
        assert is_problem(alice.get(f"{INCIDENTS}/{incident_id}"), catalogue, "incident_not_found")

    def test_of_another_teams_incident_is_the_same_404(
        self, service: RunningService, alice: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        let_break(service, make_paused(alice))
        (incident,) = list_incidents(alice)
        assert is_problem(charlie.get(f"{INCIDENTS}/{incident['id']}"), catalogue, "incident_not_found")
