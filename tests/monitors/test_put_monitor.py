from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from cast import Player, form_team
from monitors.configurations import CLIENT_CERTIFICATE
from monitors.conversations import MONITORS, URL, count_twice, create, is_problem, path_of

if TYPE_CHECKING:
    import httpx

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService


def _put(player: Player, key: str = "shop", **fields: Any) -> httpx.Response:
    return player.put(f"{MONITORS}/by-key/{key}", json={"url": URL, **fields})


class TestPutMonitor:
    def test_replaces_request_headers_as_a_whole(self, alice: Player) -> None:
        _put(alice, request_headers={"Accept": "text/html", "Authorization": "Bearer a"})
        answer = _put(alice, request_headers={"Accept": "text/html"})
        assert answer.json()["changed_fields"] == ["request_headers.Authorization"]
        assert answer.json()["monitor"]["request_headers"] == {"Accept": "text/html"}

    def test_sees_a_credential_change_that_no_answer_shows(self, alice: Player) -> None:
        first = _put(alice, request_headers={"Authorization": "Bearer a"})
        same = _put(alice, request_headers={"Authorization": "Bearer a"})
        other = _put(alice, request_headers={"Authorization": "Bearer b"})
        assert same.json() == {**first.json(), "changed_fields": []}
        assert other.json()["changed_fields"] == ["request_headers.Authorization"]

    def test_keeps_a_client_certificate_that_is_left_out(self, alice: Player) -> None:
        _put(alice, client_certificate=CLIENT_CERTIFICATE)
        kept = _put(alice)
        assert kept.json()["changed_fields"] == []
        assert kept.json()["monitor"]["client_certificate"] == "********"
        removed = _put(alice, client_certificate=None)
        assert removed.json()["changed_fields"] == ["client_certificate"]
        assert removed.json()["monitor"]["client_certificate"] is None

    def test_keeps_the_type(self, alice: Player, catalogue: Catalogue) -> None:
        _put(alice)
        answer = _put(alice, type="tcp", url="tcp://cache.example.com:6379")
        assert is_problem(answer, catalogue, "monitor_type_kept", type="http")

    @pytest.mark.parametrize(
        "fields",
        [
            {"type": "tcp", "url": "tcp://cache.example.com:6379", "tcp": {"expect": "+PONG"}},
            {"type": "dns", "url": "dns://example.com", "dns": {"record_type": "MX"}},
        ],
        ids=lambda fields: str(fields["type"]),
    )
    def test_replaces_the_settings_of_a_type(self, alice: Player, fields: dict[str, Any]) -> None:
        created = _put(alice, **fields)
        assert created.status_code == 201
        assert _put(alice, **fields).json()["changed_fields"] == []
        plain = {name: value for name, value in fields.items() if name != fields["type"]}
        (changed,) = _put(alice, **plain).json()["changed_fields"]
        assert changed.startswith(fields["type"])

    def test_keeps_the_ping_url_of_a_heartbeat(self, alice: Player) -> None:
        given = {"type": "heartbeat", "heartbeat": {"period_seconds": 3600}}
        path = f"{MONITORS}/by-key/backup"
        first = alice.put(path, json=given)
        again = alice.put(path, json={**given, "name": "Backup"})
        assert again.json()["changed_fields"] == ["name"]
        assert again.json()["monitor"]["ping_url"] == first.json()["monitor"]["ping_url"]
        assert again.headers["Cache-Control"] == "no-store"

    def test_counts_only_new_monitors_against_the_plan(
        self, service: RunningService, catalogue: Catalogue
    ) -> None:
        with Player(service, form_team(service, max_monitors=1)) as diana:
            assert _put(diana).status_code == 201
            assert is_problem(_put(diana, "blog"), catalogue, "monitor_limit_reached", max_monitors=1)
            assert _put(diana, paused=True).json()["monitor"]["status"] == "paused"
            assert service.run(count_twice(diana.team_id)) == (1, 1)
            assert diana.delete(path_of(_put(diana).json()["monitor"])).status_code == 204
            assert _put(diana).status_code == 201

    def test_a_key_alone_is_a_change_of_its_own(self, alice: Player) -> None:
        monitor = create(alice)
        before = alice.get(path_of(monitor)).headers["ETag"]
        alice.patch(path_of(monitor), json={"key": "shop"})
        answer = alice.patch(path_of(monitor), json={"name": "Shop"}, headers={"If-Match": before})
        assert answer.status_code == 412
