"""What is typed into the form of a monitor can be tried before it is saved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from app.visitor import Visitor, read_text
from cast import form_team
from monitoring.backends.encryption import MASK
from monitors.conversations import create, list_ids, path_of
from running_service import running_service

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx

    from cast import Player
    from running_service import RunningService


@pytest.fixture
def open_service(tmp_path: Path) -> Iterator[RunningService]:
    """Run a service whose monitors may ask this machine, three times an hour at once."""
    with running_service(tmp_path, allowed_networks="127.0.0.0/8", rate_limit_check_now="3/3600") as running:
        yield running


def try_new(visitor: Visitor, **fields: str) -> httpx.Response:
    return visitor.submit("/monitors/new", **{"try": "on"} | fields)


class TestTryingANewMonitor:
    def test_tells_what_a_check_finds_and_saves_nothing(self, open_service: RunningService) -> None:
        with Visitor(open_service, form_team(open_service)) as owner:
            page = try_new(owner, url=f"{open_service.base_url}/health", name="Myself")
            words = read_text(page.text)
            assert page.status_code == 200
            assert "The check found up It responds as it should. Nothing is saved yet. Status 200" in words
            assert 'value="Myself"' in page.text
            page = try_new(owner, url=f"{open_service.base_url}/nowhere")
            assert "The check found down Unexpected status" in read_text(page.text)
            assert "No monitors yet" in read_text(owner.open("/monitors").text)

    def test_tries_another_type(self, open_service: RunningService) -> None:
        with Visitor(open_service, form_team(open_service)) as owner:
            address = open_service.base_url.removeprefix("http://")
            fields = {"url": address, "tcp.send": "GET / HTTP/1.0\n\n", "tcp.expect": "HTTP/1.1"}
            page = owner.submit("/monitors/new?type=tcp", **{"try": "on"} | fields)
            assert "The check found up It responds as it should." in read_text(page.text)

    def test_is_limited_as_checks_that_people_ask_for_and_keeps_what_was_typed(
        self, open_service: RunningService
    ) -> None:
        with Visitor(open_service, form_team(open_service)) as owner:
            url = f"{open_service.base_url}/health"
            assert [try_new(owner, url=url).status_code for _ in range(4)] == [200, 200, 200, 429]
            page = try_new(owner, url=url, name="Myself")
            assert 'value="Myself"' in page.text
            assert 'role="alert"' in page.text

    def test_asks_no_address_that_checks_may_not_ask(self, service: RunningService, owner: Visitor) -> None:
        page = try_new(owner, url=f"{service.base_url}/health")
        assert "The check found down Address not allowed" in read_text(page.text)

    def test_tells_everything_that_is_wrong_and_asks_nothing(self, owner: Visitor) -> None:
        page = try_new(owner, url="shop", timeout_seconds="soon")
        assert page.status_code == 400
        assert {'id="error-url"' in page.text, 'id="error-timeout_seconds"' in page.text} == {True}
        assert "The check found" not in page.text

    def test_leaves_the_form_as_good_as_new(self, owner: Visitor, alice: Player) -> None:
        page = try_new(owner, url="https://shop.invalid/")
        form_id = page.text.partition('name="form_id" value="')[2].partition('"')[0]
        made = owner.submit(f"/monitors/new?form={form_id}", "/monitors/new", url="https://shop.invalid/")
        assert "The monitor is created" in read_text(made.text)
        assert len(list_ids(alice)) == 1


class TestTryingAChange:
    def test_sends_saved_credentials_and_changes_nothing(
        self, service: RunningService, owner: Visitor, alice: Player
    ) -> None:
        monitor: dict[str, Any] = create(alice, request_headers={"Authorization": "Bearer 1234567890"})
        path = f"/monitors/{monitor['id']}/edit"
        page = owner.submit(path, **{"try": "on", "url": f"{service.base_url}/health", "name": "Other"})
        assert "The check found down Address not allowed" in read_text(page.text)
        assert MASK in page.text
        assert 'value="Other"' in page.text
        assert alice.get(path_of(monitor)).json()["name"] == monitor["name"]
