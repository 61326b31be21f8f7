"""Credentials among the request headers go in and never come out, but to the server that is checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from backends.dump import dump_database
from monitoring.backends.encryption import MASK
from monitoring.monitors.models import Monitor
from monitoring.monitors.request_headers import encrypt_request_headers, read_headers
from monitors.conversations import MONITORS, URL, create, is_problem, path_of, read

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

KEY = {"Idempotency-Key": "4c1f0f1e-8a0b-4f0e-9c59-3d2d9a1f7b11"}
SECRET = "Bearer a-secret-of-this-test"
HEADERS = {"Accept": "text/html", "Authorization": SECRET, "X-Trace": "Basic YS1zZWNyZXQ6b2YtdGhpcy10ZXN0"}
SHOWN = {"Accept": "text/html", "Authorization": MASK, "X-Trace": MASK}


def sent_headers(service: RunningService, monitor: dict[str, Any]) -> dict[str, str]:
    """Return what a check sends."""

    async def read_row() -> dict[str, str]:
        row = await Monitor.get(id=UUID(monitor["id"]))
        return read_headers(row.request_headers, row.encrypted_headers)

    return service.run(read_row())


def patch_headers(player: httpx.Client, monitor: dict[str, Any], **headers: str | None) -> httpx.Response:
    return player.patch(path_of(monitor), json={"request_headers": headers})


def store_as_before(service: RunningService, monitor: dict[str, Any], headers: dict[str, str]) -> None:
    """Store headers as releases did that knew no credentials."""

    async def store() -> None:
        row = Monitor.filter(id=UUID(monitor["id"]))
        await row.update(request_headers=headers, encrypted_headers=None)

    service.run(store())


class TestMasking:
    def test_leaves_credentials_out_of_every_answer_to_whomever(
        self, service: RunningService, alice: Player, bob: Player
    ) -> None:
        created = alice.post(MONITORS, json={"url": URL, "request_headers": HEADERS}, headers=KEY)
        monitor = created.json()
        changed = alice.patch(path_of(monitor), json={"name": "Shop"})
        answers = [
            created,
            changed,
            *(each.get(path) for each in (alice, bob) for path in (MONITORS, path_of(monitor))),
        ]
        for answer in answers:
            assert answer.is_success
            shown = answer.json()
            assert shown.get("monitors", [shown])[0]["request_headers"] == SHOWN
        assert sent_headers(service, monitor) == HEADERS

    def test_repeats_the_first_answer_with_masks(self, alice: Player) -> None:
        given = {"url": URL, "request_headers": HEADERS}
        first, second = (alice.post(MONITORS, json=given, headers=KEY) for _ in range(2))
        assert first.content == second.content
        assert second.json()["request_headers"] == SHOWN

    def test_keeps_plain_credentials_out_of_the_database(
        self, service: RunningService, alice: Player
    ) -> None:
        monitor = alice.post(MONITORS, json={"url": URL, "request_headers": HEADERS}, headers=KEY).json()
        patch_headers(alice, monitor, Cookie="another-secret-of-this-test")
        stored = service.run(dump_database())
        assert "text/html" in stored
        for secret in ("a-secret-of-this-test", "another-secret-of-this-test", HEADERS["X-Trace"]):
            assert secret not in stored


class TestPatching:
    def test_keeps_a_credential_that_it_does_not_name(self, service: RunningService, alice: Player) -> None:
        monitor = create(alice, request_headers=HEADERS)
        assert patch_headers(alice, monitor, Accept=None, Cookie="b").json()["request_headers"] == {
            "Authorization": MASK,
            "X-Trace": MASK,
            "Cookie": MASK,
        }
        kept = {name: value for name, value in HEADERS.items() if name != "Accept"}
        assert sent_headers(service, monitor) == {**kept, "Cookie": "b"}

    def test_with_a_whole_monitor_as_it_was_read_changes_nothing(
        self, service: RunningService, alice: Player
    ) -> None:
        monitor = create(alice, request_headers=HEADERS)
        before = alice.get(path_of(monitor))
        writable = {
            name: monitor[name] for name in monitor if name in ("name", "url", "request_headers", "tags")
        }
        after = alice.patch(path_of(monitor), json=writable)
        assert (after.json(), after.headers["ETag"]) == (before.json(), before.headers["ETag"])
        assert sent_headers(service, monitor) == HEADERS

    def test_with_a_mask_under_another_spelling_renames(self, service: RunningService, alice: Player) -> None:
        monitor = create(alice, request_headers={"Authorization": SECRET})
        assert patch_headers(alice, monitor, AUTHORIZATION=MASK).json()["request_headers"] == {
            "AUTHORIZATION": MASK
        }
        assert sent_headers(service, monitor) == {"AUTHORIZATION": SECRET}

    def test_with_a_new_secret_moves_the_version_though_the_answer_looks_alike(
        self, service: RunningService, alice: Player
    ) -> None:
        monitor = create(alice, request_headers=HEADERS)
        old_tag = alice.get(path_of(monitor)).headers["ETag"]
        assert patch_headers(alice, monitor, Authorization=SECRET).headers["ETag"] == old_tag
        changed = patch_headers(alice, monitor, Authorization="Bearer new")
        assert changed.headers["ETag"] != old_tag
        assert changed.json()["request_headers"] == SHOWN
        stale = alice.patch(path_of(monitor), json={"name": "a"}, headers={"If-Match": old_tag})
        assert stale.status_code == 412
        assert sent_headers(service, monitor)["Authorization"] == "Bearer new"

    def test_shows_a_value_again_that_is_no_credential_any_more(self, alice: Player) -> None:
        monitor = create(alice, request_headers=HEADERS)
        assert patch_headers(alice, monitor, **{"X-Trace": "1"}).json()["request_headers"]["X-Trace"] == "1"

    def test_with_a_mask_that_stands_for_nothing_is_a_conflict(
        self, alice: Player, catalogue: Catalogue
    ) -> None:
        monitor = create(alice, request_headers={"Accept": "text/html"})
        answer = patch_headers(alice, monitor, Authorization=MASK)
        assert is_problem(answer, catalogue, "request_header_masked", name="Authorization")
        assert read(alice, monitor) == monitor


class TestEarlierReleases:
    def test_left_credentials_that_answers_mask(self, service: RunningService, alice: Player) -> None:
        monitor = create(alice)
        store_as_before(service, monitor, HEADERS)
        assert read(alice, monitor)["request_headers"] == SHOWN
        [listed] = alice.get(MONITORS).json()["monitors"]
        assert listed["request_headers"] == SHOWN
        assert alice.patch(path_of(monitor), json={"name": "a"}).json()["request_headers"] == SHOWN
        assert sent_headers(service, monitor) == HEADERS

    def test_left_credentials_that_are_encrypted_without_moving_the_version(
        self, service: RunningService, alice: Player
    ) -> None:
        monitor = create(alice)
        store_as_before(service, monitor, HEADERS)
        tag = alice.get(path_of(monitor)).headers["ETag"]
        assert service.run(encrypt_request_headers()).encrypted >= 1
        assert SECRET not in service.run(dump_database())
        assert sent_headers(service, monitor) == HEADERS
        answer = alice.get(path_of(monitor))
        assert (answer.json()["request_headers"], answer.headers["ETag"]) == (SHOWN, tag)
        assert service.run(encrypt_request_headers()).encrypted == 0

    @pytest.mark.parametrize("headers", [{}, {"Accept": "text/html"}])
    def test_left_other_headers_as_they_are(
        self, service: RunningService, alice: Player, headers: dict[str, str]
    ) -> None:
        monitor = create(alice)
        store_as_before(service, monitor, headers)
        service.run(encrypt_request_headers())
        assert read(alice, monitor)["request_headers"] == sent_headers(service, monitor) == headers
