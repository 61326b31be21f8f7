from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from incidents.breakdowns import open_incident, resolve
from monitoring.audit.service import list_entries
from monitoring.monitors.models import Monitor
from monitoring.notifications.models import Mute
from monitors.conversations import MONITORS, create, is_problem, path_of
from notifications.conversations import list_deliveries, register

if TYPE_CHECKING:
    from cast import Player
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

HOUR = {"duration_seconds": 3600}


def mute(player: Player, monitor: dict[str, Any], **fields: Any) -> dict[str, Any]:
    answer: dict[str, Any] = player.put(f"{path_of(monitor)}/mute", json=fields).raise_for_status().json()
    return answer


async def break_down(monitor: dict[str, Any]) -> Monitor:
    now, row = datetime.now(UTC), await Monitor.get(id=monitor["id"]).select_related("check_state")
    await open_incident(row, started_at=now, confirmed_at=now, error="timeout", error_message="Silence")
    return row


class TestMuteMonitor:
    def test_is_shown_by_every_answer_until_it_ends(self, alice: Player, service: RunningService) -> None:
        monitor = create(alice)
        create(alice)
        assert monitor["mute"] is None
        muted = mute(alice, monitor, **HOUR)
        left = datetime.fromisoformat(muted["muted_until"]) - datetime.now(UTC)
        assert timedelta(minutes=59) < left <= timedelta(hours=1)
        assert muted["muted_by"] == "API key A key of the tests"
        assert alice.get(path_of(monitor)).json() == {**monitor, "mute": muted}
        assert alice.patch(path_of(monitor), json={"name": "Shop"}).json()["mute"] == muted
        assert [each["mute"] for each in alice.get(MONITORS).json()["monitors"]] == [None, muted]
        assert mute(alice, monitor) == {**muted, "muted_until": None}

        async def end() -> None:
            ended = datetime.now(UTC) - timedelta(seconds=2)
            await Mute.filter(monitor_id=monitor["id"]).update(muted_until=ended)

        service.run(end())
        assert alice.get(path_of(monitor)).json()["mute"] is None

    def test_skips_what_waits_but_not_beyond_its_end(self, alice: Player, service: RunningService) -> None:
        late = register(alice, routing={"delay_seconds": 600})
        monitor = create(alice)
        row = service.run(break_down(monitor))
        mute(alice, monitor, duration_seconds=300)
        assert [each["status"] for each in list_deliveries(alice, late)] == ["pending"]
        mute(alice, monitor, duration_seconds=900)
        [skipped] = list_deliveries(alice, late)
        assert (skipped["status"], skipped["next_attempt_at"]) == ("skipped", None)
        alice.delete(f"{path_of(monitor)}/mute").raise_for_status()
        service.run(resolve(row))
        assert list_deliveries(alice, late) == [skipped]

    @pytest.mark.parametrize("method", ["PUT", "DELETE"])
    def test_of_another_team_is_nobodys(
        self, method: str, alice: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        monitor = create(charlie)
        body = HOUR if method == "PUT" else None
        answer = alice.request(method, f"{path_of(monitor)}/mute", json=body)
        assert is_problem(answer, catalogue, "monitor_not_found")
        assert charlie.get(path_of(monitor)).json()["mute"] is None

    def test_is_in_the_audit_log_as_its_end_is_once(self, alice: Player, service: RunningService) -> None:
        monitor = create(alice)
        mute(alice, monitor)
        for _ in range(2):
            assert alice.delete(f"{path_of(monitor)}/mute").status_code == 204
        entries = service.run(list_entries(alice.team_id, 2, None)).rows
        assert [each.action for each in entries] == ["monitor.unmuted", "monitor.muted"]
