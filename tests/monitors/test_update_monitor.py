from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from monitoring.monitors.models import CheckState
from monitors.conversations import MONITORS, create, is_problem, path_of, read

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService


def _patch(player: Player, monitor: dict[str, Any], **fields: Any) -> dict[str, Any]:
    answer = player.patch(path_of(monitor), json=fields)
    assert answer.status_code == 200, answer.text
    changed: dict[str, Any] = answer.json()
    return changed


async def find_slow(monitor_id: str) -> None:
    await CheckState.filter(monitor_id=monitor_id).update(last_response_time_ms=900)


class TestUpdateMonitor:
    def test_changes_what_is_named_and_nothing_else(self, alice: Player) -> None:
        monitor = create(alice, name="Storefront", tags=["shop"])
        changed = _patch(alice, monitor, interval_seconds=60)
        assert {name for name in monitor if changed[name] != monitor[name]} == {
            "interval_seconds",
            "updated_at",
        }
        assert read(alice, monitor) == changed

    def test_takes_a_merge_patch_under_its_own_media_type(self, alice: Player) -> None:
        monitor = create(alice)
        headers = {"Content-Type": "application/merge-patch+json"}
        answer = alice.patch(path_of(monitor), content='{"name": "Checkout"}', headers=headers)
        assert answer.json()["name"] == "Checkout"

    def test_null_is_the_default_again(self, alice: Player) -> None:
        monitor = create(alice, name="Storefront", interval_seconds=60, tags=["shop"], verify_tls=False)
        changed = _patch(alice, monitor, name=None, interval_seconds=None, tags=None, verify_tls=None)
        plain = create(alice)
        assert {name: changed[name] for name in ("name", "interval_seconds", "tags", "verify_tls")} == {
            name: plain[name] for name in ("name", "interval_seconds", "tags", "verify_tls")
        }

    def test_null_is_the_default_again_for_a_method_too(self, alice: Player, catalogue: Catalogue) -> None:
        monitor = create(alice, method="POST")
        answer = alice.patch(path_of(monitor), json={"method": "TRACE"})
        options = "must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"
        assert is_problem(answer, catalogue, "invalid_field", field="method", problem=options)
        assert _patch(alice, monitor, method=None)["method"] == "GET"

    def test_sets_and_removes_single_request_headers(self, alice: Player) -> None:
        monitor = create(alice, request_headers={"Accept": "text/html", "X-Trace": "1"})
        changed = _patch(alice, monitor, request_headers={"Accept": None, "X-Shop": "a", "X-None": None})
        assert changed["request_headers"] == {"X-Trace": "1", "X-Shop": "a"}
        assert _patch(alice, monitor, request_headers=None)["request_headers"] == {}

    def test_matches_request_headers_in_any_case(self, alice: Player) -> None:
        monitor = create(alice, request_headers={"Accept": "a"})
        assert _patch(alice, monitor, request_headers={"accept": "b"})["request_headers"] == {"accept": "b"}
        assert _patch(alice, monitor, request_headers={"ACCEPT": None})["request_headers"] == {}

    def test_sets_the_last_of_two_request_headers_that_differ_in_case(self, alice: Player) -> None:
        monitor = create(alice, request_headers={"Accept": "a"})
        changed = _patch(alice, monitor, request_headers={"Accept": "b", "accept": "c"})
        assert changed["request_headers"] == {"accept": "c"}

    def test_that_changes_nothing_moves_neither_version_nor_time(self, alice: Player) -> None:
        monitor = create(alice, tags=["shop"], request_headers={"Accept": "text/html"})
        tag = alice.get(path_of(monitor)).headers["ETag"]
        same = {"tags": ["shop"], "request_headers": {"X-Absent": None}, "paused": False, "name": None}
        answer = alice.patch(path_of(monitor), json=same)
        assert answer.json() == monitor
        assert answer.headers["ETag"] == tag

    def test_takes_what_reading_returned(self, alice: Player) -> None:
        monitor = create(alice, tags=["shop"], request_headers={"Authorization": "Bearer a"})
        answer = alice.patch(path_of(monitor), json=monitor | {"interval_seconds": 60, "status": "down"})
        assert answer.json() == monitor | {
            "interval_seconds": 60,
            "updated_at": answer.json()["updated_at"],
        }

    def test_without_a_field_is_no_change(self, alice: Player) -> None:
        monitor = create(alice)
        answer = alice.patch(path_of(monitor), json={})
        assert (answer.status_code, answer.json()) == (200, monitor)

    def test_moves_the_version_with_every_change(self, alice: Player) -> None:
        monitor = create(alice)
        tags = [
            alice.patch(path_of(monitor), json={"name": name}).headers["ETag"]
            for name in ("a", "b", "b", "a")
        ]
        assert [tag.partition(".")[0] for tag in tags] == ['"2', '"3', '"3', '"4']
        assert alice.get(path_of(monitor)).headers["ETag"] == tags[-1]

    def test_loses_none_of_several_changes_at_once(self, alice: Player) -> None:
        monitor = create(alice)

        def set_header(number: int) -> int:
            headers = {f"X-{number}": "a"}
            return alice.patch(path_of(monitor), json={"request_headers": headers}).status_code

        with ThreadPoolExecutor(12) as pool:
            assert set(pool.map(set_header, range(12))) == {200}
        assert read(alice, monitor)["request_headers"] == {f"X-{number}": "a" for number in range(12)}
        assert alice.get(path_of(monitor)).headers["ETag"].startswith('"13.')

    @pytest.mark.parametrize(
        ("problem_name", "before", "patch"),
        [
            ("request_headers_too_many", {"request_headers": dict.fromkeys(["X-A", "X-B"], "")}, None),
            ("monitor_contradicted", {"required_keyword": "ok"}, {"method": "HEAD"}),
        ],
    )
    def test_refuses_a_patch_that_does_not_go_with_the_rest(
        self,
        alice: Player,
        catalogue: Catalogue,
        problem_name: str,
        before: dict[str, Any],
        patch: dict[str, Any] | None,
    ) -> None:
        monitor = create(alice, **before)
        patch = patch or {"request_headers": {f"X-{number}": "" for number in range(19)}}
        answer = alice.patch(path_of(monitor), json=patch)
        assert is_problem(
            answer,
            catalogue,
            problem_name,
            field="required_keyword",
            problem="must be null when method is HEAD",
        )
        assert read(alice, monitor) == monitor

    @pytest.mark.parametrize(
        ("field", "patch"),
        [
            ("body", []),
            ("url", {"url": None}),
            ("interval_seconds", {"interval_seconds": 1}),
            ("name", {"name": " "}),
            ("name", {"name": "x" * 101}),
            ("request_headers.Accept", {"request_headers": {"Accept": 1}}),
            ("request_headers.Accept", {"request_headers": {"Accept": "\x1b"}}),
            ("request_headers.Accept", {"request_headers": {"Accept": "\u0100"}}),
            ("version", {"version": 7}),
        ],
    )
    def test_names_the_field_that_is_wrong(self, alice: Player, field: str, patch: Any) -> None:
        answer = alice.patch(path_of(create(alice)), json=patch)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{field}: ")

    def test_is_not_for_keys_that_may_only_read(
        self, alice: Player, bob: Player, catalogue: Catalogue
    ) -> None:
        answer = bob.patch(path_of(create(alice)), json={"name": "Bob's"})
        assert is_problem(answer, catalogue, "insufficient_permissions", scope="monitors:write")

    def test_of_nobodys_and_of_another_teams_monitor_are_the_same_404(
        self, alice: Player, charlie: Player, catalogue: Catalogue
    ) -> None:
        monitor = create(alice)
        for path in (path_of(monitor), f"{MONITORS}/{uuid4()}"):
            answer = charlie.patch(path, json={"name": "Charlie's"}, headers={"If-Match": '"7"'})
            assert is_problem(answer, catalogue, "monitor_not_found")
        assert read(alice, monitor) == monitor


class TestPausing:
    def test_changes_the_status_and_its_time(self, alice: Player) -> None:
        monitor = create(alice)
        paused = _patch(alice, monitor, paused=True)
        assert paused["status"] == "paused"
        assert paused["status_changed_at"] == paused["updated_at"] > monitor["status_changed_at"]

    def test_a_paused_monitor_changes_nothing(self, alice: Player) -> None:
        monitor = create(alice, paused=True)
        assert _patch(alice, monitor, paused=True) == monitor

    def test_ends_only_by_paused_itself(self, alice: Player) -> None:
        monitor = create(alice, paused=True)
        renamed = _patch(alice, monitor, name="Checkout", url="https://b.example")
        assert (renamed["paused"], renamed["status"]) == (True, "paused")
        assert renamed["status_changed_at"] == monitor["status_changed_at"]

    @pytest.mark.parametrize("paused", [False, None])
    def test_ends_in_pending(self, alice: Player, paused: bool | None) -> None:  # noqa: FBT001
        monitor = create(alice, paused=True)
        resumed = _patch(alice, monitor, paused=paused)
        assert (resumed["paused"], resumed["status"]) == (False, "pending")
        assert resumed["status_changed_at"] > monitor["status_changed_at"]


class TestIfMatch:
    @pytest.mark.parametrize("if_match", ['"1"', "1", "*", '"0", "1"'])
    def test_lets_a_change_of_the_current_version_through(self, alice: Player, if_match: str) -> None:
        monitor = create(alice)
        answer = alice.patch(path_of(monitor), json={"name": "Checkout"}, headers={"If-Match": if_match})
        assert answer.status_code == 200

    @pytest.mark.parametrize("if_match", ['"2"', '""', '"0", "2"', '"1', "**", 'w/"1"'])
    def test_stops_every_other_change(self, alice: Player, catalogue: Catalogue, if_match: str) -> None:
        monitor = create(alice)
        answer = alice.patch(path_of(monitor), json={"name": "Checkout"}, headers={"If-Match": if_match})
        assert is_problem(answer, catalogue, "monitor_changed")
        assert read(alice, monitor) == monitor

    def test_says_of_a_weak_tag_why_it_never_matches(self, alice: Player, catalogue: Catalogue) -> None:
        monitor = create(alice)
        headers = {"If-Match": f"W/{alice.get(path_of(monitor)).headers['ETag']}"}
        answer = alice.patch(path_of(monitor), json={"name": "Checkout"}, headers=headers)
        assert is_problem(answer, catalogue, "weak_entity_tag")
        assert read(alice, monitor) == monitor

    def test_is_not_about_what_checks_find(self, alice: Player, service: RunningService) -> None:
        monitor = create(alice)
        before = alice.get(path_of(monitor)).headers["ETag"]
        service.run(find_slow(monitor["id"]))
        after = alice.get(path_of(monitor), headers={"If-None-Match": before})
        assert (after.status_code, after.json()["last_response_time_ms"]) == (200, 900)
        assert after.headers["ETag"] != before
        changed = alice.patch(path_of(monitor), json={"name": "Checkout"}, headers={"If-Match": before})
        assert changed.status_code == 200

    def test_lets_exactly_one_of_several_changes_at_once_through(
        self, alice: Player, catalogue: Catalogue
    ) -> None:
        monitor = create(alice)

        def rename(number: int) -> httpx.Response:
            headers = {"If-Match": '"1"'}
            return alice.patch(path_of(monitor), json={"name": f"Name {number}"}, headers=headers)

        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(rename, range(8)))
        refusals = [answer for answer in answers if answer.status_code != 200]
        assert len(refusals) == 7
        assert all(is_problem(answer, catalogue, "monitor_changed") for answer in refusals)
