from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from incidents.breakdowns import break_down, resolve
from monitoring.audit.models import AuditEntry
from monitoring.contract.document import published_document
from monitoring.incidents.models import Incident, IncidentNote
from monitoring.incidents.responding import MAX_NOTES
from monitoring.monitors.service import create_monitor
from monitors.conversations import is_problem

if TYPE_CHECKING:
    from uuid import UUID

    from cast import Player
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

INCIDENTS = "/api/incidents"
CHANNEL = {"type": "webhook", "url": "https://pager.example.com/", "events": ["incident.acknowledged"]}


@pytest.fixture
def incident_id(service: RunningService, charlie: Player) -> str:
    """Is an open incident of Charlie's team."""

    async def begin() -> UUID:
        monitor = await create_monitor(charlie.team_id, {"url": "https://shop.example.com/"})
        await break_down(monitor)
        return (await Incident.get(monitor_id=monitor.id)).id

    return str(service.run(begin()))


def resolve_all(service: RunningService, player: Player) -> None:
    async def end() -> None:
        for incident in await Incident.filter(team_id=player.team_id):
            monitor = await create_monitor(player.team_id, {"url": "https://shop.example.com/"})
            monitor.id = incident.monitor_id
            await resolve(monitor)

    service.run(end())


def read(player: Player, incident_id: str) -> dict[str, Any]:
    incident: dict[str, Any] = player.get(f"{INCIDENTS}/{incident_id}").raise_for_status().json()
    return incident


def read_log(service: RunningService, player: Player) -> list[tuple[str, str]]:
    async def find() -> list[tuple[str, str]]:
        entries = await AuditEntry.filter(team_id=player.team_id).order_by("id")
        return [(each.action, each.actor) for each in entries]

    return service.run(find())


class TestAcknowledge:
    def test_says_who_and_when_and_tells_the_channels_once(
        self, service: RunningService, charlie: Player, incident_id: str
    ) -> None:
        channel = charlie.post("/api/notification-channels", json=CHANNEL).raise_for_status().json()
        answers = [charlie.post(f"{INCIDENTS}/{incident_id}/acknowledge") for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200]
        first, second = (answer.json() for answer in answers)
        assert first == second == read(charlie, incident_id)
        assert first["acknowledged_by"].startswith("API key A key")
        assert first["acknowledged_at"] > first["confirmed_at"]
        deliveries = charlie.get(f"/api/notification-channels/{channel['id']}/deliveries").json()
        assert [each["event"] for each in deliveries["deliveries"]] == ["incident.acknowledged"]
        assert read_log(service, charlie)[-1] == ("incident.acknowledged", first["acknowledged_by"])

    def test_is_too_late_when_the_incident_is_resolved(
        self, service: RunningService, charlie: Player, catalogue: Catalogue, incident_id: str
    ) -> None:
        resolve_all(service, charlie)
        answer = charlie.post(f"{INCIDENTS}/{incident_id}/acknowledge")
        assert is_problem(answer, catalogue, "incident_resolved")
        assert read(charlie, incident_id)["acknowledged_at"] is None

    def test_stays_when_the_incident_is_resolved(
        self, service: RunningService, charlie: Player, incident_id: str
    ) -> None:
        charlie.post(f"{INCIDENTS}/{incident_id}/acknowledge").raise_for_status()
        resolve_all(service, charlie)
        again = charlie.post(f"{INCIDENTS}/{incident_id}/acknowledge").raise_for_status().json()
        assert (again["state"], bool(again["acknowledged_by"])) == ("resolved", True)

    def test_is_for_the_team_alone(
        self, alice: Player, catalogue: Catalogue, charlie: Player, incident_id: str
    ) -> None:
        for wanted in (incident_id, str(uuid4())):
            answer = alice.post(f"{INCIDENTS}/{wanted}/acknowledge")
            assert is_problem(answer, catalogue, "incident_not_found")
        assert read(charlie, incident_id)["acknowledged_at"] is None


class TestNotes:
    def test_are_listed_newest_first_with_their_authors(
        self, service: RunningService, charlie: Player, incident_id: str
    ) -> None:
        path = f"{INCIDENTS}/{incident_id}/notes"
        answers = [charlie.post(path, json={"text": text}) for text in ("Rolling back.", "Done.\n✓")]
        assert [answer.status_code for answer in answers] == [201, 201]
        resolve_all(service, charlie)
        late = charlie.post(path, json={"text": "It was the release."}).raise_for_status()
        notes = charlie.get(path).raise_for_status().json()["notes"]
        assert notes == [each.json() for each in (late, *answers[::-1])]
        assert {note["author"] for note in notes} == {"API key A key of the tests"}
        assert read_log(service, charlie)[-1][0] == "incident.noted"

    def test_are_one_under_one_idempotency_key(self, charlie: Player, incident_id: str) -> None:
        path = f"{INCIDENTS}/{incident_id}/notes"
        headers = {"Idempotency-Key": str(uuid4())}
        answers = [charlie.post(path, json={"text": "Once"}, headers=headers) for _ in range(2)]
        assert answers[0].json() == answers[1].json()
        assert len(charlie.get(path).json()["notes"]) == 1

    @pytest.mark.parametrize("text", ["", " \n", "\u200b\u00ad", "a" * 2001, None, 7])
    def test_say_something_visible(self, charlie: Player, incident_id: str, text: object) -> None:
        answer = charlie.post(f"{INCIDENTS}/{incident_id}/notes", json={"text": text})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("text: ")

    def test_say_u_0000_as_the_replacement_character_which_is_visible(
        self, charlie: Player, incident_id: str
    ) -> None:
        answer = charlie.post(f"{INCIDENTS}/{incident_id}/notes", json={"text": "\u200b\0"})
        assert (answer.status_code, answer.json()["text"]) == (201, "\u200b\ufffd")
        invisible = published_document().root["components"]["schemas"]["NothingVisible"]
        assert not re.search(invisible["pattern"], "\u200b\0")

    def test_are_for_the_team_alone(self, alice: Player, catalogue: Catalogue, incident_id: str) -> None:
        path = f"{INCIDENTS}/{incident_id}/notes"
        assert is_problem(alice.get(path), catalogue, "incident_not_found")
        assert is_problem(alice.post(path, json={"text": "Mine"}), catalogue, "incident_not_found")

    def test_are_at_most_500(
        self, service: RunningService, charlie: Player, catalogue: Catalogue, incident_id: str
    ) -> None:
        async def fill() -> None:
            incident = await Incident.get(id=incident_id)
            note = {"author": "Ana", "text": "More", "created_at": incident.started_at}
            await IncidentNote.bulk_create(
                [IncidentNote(incident_id=incident.id, **note) for _ in range(MAX_NOTES)]
            )

        service.run(fill())
        answer = charlie.post(f"{INCIDENTS}/{incident_id}/notes", json={"text": "One more"})
        assert is_problem(answer, catalogue, "incident_note_limit_reached")
