"""Replacing a key: the state of the three steps, and how the page leads through them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from app.visitor import Visitor, read_forms, read_text
from monitoring.app.keys.rotation import (
    Rotation,
    Step,
    Traffic,
    find_successor,
    judge_rotation,
    judge_traffic,
    name_successor,
)
from monitoring.auth.models import ApiKey
from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.auth.service import create_key, revoke_key
from monitoring.backends.fields import uuid7

if TYPE_CHECKING:
    import httpx

    from cast import Player
    from monitoring.auth.models import Team
    from running_service import RunningService

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ROTATION = "/settings/api-keys/rotation"
DONE, CURRENT, LATER = Step.DONE, Step.NOW, Step.LATER


def a_key(name: str = "Deploy", *, age_days: int = 9, used: bool = False, revoked: bool = False) -> ApiKey:
    return ApiKey(
        id=uuid7(),
        client_id=f"mon_live_{uuid7()}",
        name=name,
        created_at=NOW - timedelta(days=age_days),
        last_used_at=NOW if used else None,
        revoked_at=NOW if revoked else None,
    )


class TestSteps:
    @pytest.mark.parametrize(
        ("old", "new", "steps"),
        [
            (a_key(), None, (CURRENT, LATER, LATER)),
            (a_key(), a_key(), (DONE, CURRENT, LATER)),
            (a_key(), a_key(used=True), (DONE, DONE, CURRENT)),
            (a_key(revoked=True), a_key(used=True), (DONE, DONE, DONE)),
            (a_key(revoked=True), a_key(), (DONE, CURRENT, DONE)),
            (a_key(revoked=True), None, (CURRENT, LATER, DONE)),
        ],
    )
    def test_come_one_after_the_other(
        self, old: ApiKey, new: ApiKey | None, steps: tuple[Step, Step, Step]
    ) -> None:
        assert judge_rotation(old, new) == Rotation(*steps)


class TestTraffic:
    @pytest.mark.parametrize(
        ("last_used", "traffic"),
        [
            (None, Traffic.NEVER),
            (timedelta(0), Traffic.BUSY),
            (timedelta(hours=2), Traffic.BUSY),
            (timedelta(hours=2, seconds=1), Traffic.SILENT),
            (timedelta(days=400), Traffic.SILENT),
        ],
    )
    def test_is_silent_only_after_a_whole_hour_without_a_use(
        self, last_used: timedelta | None, traffic: Traffic
    ) -> None:
        key = a_key()
        key.last_used_at = last_used if last_used is None else NOW - last_used
        assert judge_traffic(key, NOW) == traffic


class TestTheSuccessor:
    def test_is_the_newest_that_is_named_after_the_old_key(self) -> None:
        old, other, early, late = (
            a_key(),
            a_key("Other", age_days=1),
            a_key("Deploy (new)", age_days=3),
            a_key("Deploy (new)", age_days=2),
        )
        assert find_successor(old, [old, late, other, early], None) is late

    def test_is_never_revoked_older_or_the_key_itself(self) -> None:
        old, gone, older = (
            a_key(),
            a_key("Deploy (new)", age_days=1, revoked=True),
            a_key("Deploy (new)", age_days=10),
        )
        assert find_successor(old, [old, gone, older], None) is None
        assert find_successor(old, [old, gone], gone) is None
        assert find_successor(old, [old], old) is None

    def test_is_the_chosen_one_whatever_its_name_and_age(self) -> None:
        old, older, namesake = a_key(), a_key("Other", age_days=10), a_key("Deploy (new)", age_days=1)
        assert find_successor(old, [old, older, namesake], older) is older

    @pytest.mark.parametrize("length", [1, 93, 94, 95, 100])
    def test_has_a_name_that_fits(self, length: int) -> None:
        name = name_successor("x" * length)
        assert name.endswith("x (new)")
        assert len(name) <= MAX_NAME_CHARACTERS


class TestThePage:
    def test_walks_through_the_steps_with_the_teams_keys(
        self, owner: Visitor, alice: Player, service: RunningService
    ) -> None:
        path = f"{ROTATION}?old={alice.client_id}"
        assert states(owner.open(path)) == ["now", "later", "later"]

        new_form = link_on(owner.open(path), "Create the new key")
        created = owner.post(
            "/settings/api-keys/new", data=read_forms(owner.open(new_form).text)["/app/settings/api-keys/new"]
        )
        path = link_on(created, "I have saved it: on to the next step")
        assert states(owner.open(path)) == ["done", "now", "later"]
        assert "The new key has not called the API yet." in read_text(owner.open(path).text)

        new_client_id = path.rpartition("new=")[2]
        assert f"CLIENT_ID={new_client_id}" in owner.open(path).text
        service.run(_use(new_client_id, datetime.now(UTC)))
        assert states(owner.open(path)) == ["done", "done", "now"]

        revocation = link_on(owner.open(path), "Revoke the old key")
        owner.submit(revocation, understood="on")
        assert states(owner.open(path)) == ["done", "done", "done"]
        assert alice.get("/api/monitors").status_code == 401

    def test_finds_the_new_key_again(self, owner: Visitor, alice: Player) -> None:
        new_form = read_forms(owner.open(f"/settings/api-keys/new?old={alice.client_id}").text)
        owner.post("/settings/api-keys/new", data=new_form["/app/settings/api-keys/new"])
        assert states(owner.open(f"{ROTATION}?old={alice.client_id}")) == ["done", "now", "later"]

    def test_tells_whether_something_still_uses_the_old_key(
        self, owner: Visitor, alice: Player, service: RunningService
    ) -> None:
        path = f"{ROTATION}?old={alice.client_id}"
        assert "was never used" in read_text(owner.open(path).text)
        alice.get("/api/monitors")
        assert "something may still need it" in read_text(owner.open(path).text)
        service.run(_use(alice.client_id, datetime.now(UTC) - timedelta(days=3)))
        text = read_text(owner.open(path).text)
        assert "last called the API 3 days ago" in text
        assert "something may still need it" not in text

    def test_takes_any_living_key_in_the_old_ones_place(
        self, owner: Visitor, alice: Player, service: RunningService, team: Team
    ) -> None:
        other = service.run(create_key(team, "Other", ["monitors:read"])).key
        page = owner.open(f"{ROTATION}?old={alice.client_id}&new={other.client_id}")
        assert states(page) == ["done", "now", "later"]
        service.run(revoke_key(other.client_id))
        page = owner.open(f"{ROTATION}?old={alice.client_id}&new={other.client_id}")
        assert states(page) == ["now", "later", "later"]

    def test_knows_no_key_of_another_team(self, outsider: Visitor, alice: Player) -> None:
        assert alice.client_id not in outsider.open(ROTATION).text
        for query in ("old", "new"):
            assert outsider.open(f"{ROTATION}?{query}={alice.client_id}").status_code == 404

    def test_shows_members_the_steps_and_leaves_them_to_owners(self, member: Visitor, alice: Player) -> None:
        page = member.open(f"{ROTATION}?old={alice.client_id}")
        assert states(page) == ["now", "later", "later"]
        assert "An owner of your team can do this." in read_text(page.text)
        assert "/revoke" not in page.text
        assert "/new" not in page.text

    def test_asks_for_a_key_first(self, owner: Visitor, alice: Player) -> None:
        page = owner.open(ROTATION)
        assert alice.client_id in page.text
        assert states(page) == []


async def _use(client_id: str, last_used_at: datetime) -> None:
    await ApiKey.filter(client_id=client_id).update(last_used_at=last_used_at)


def states(page: httpx.Response) -> list[str]:
    """Return the state of each step."""
    headings = re.findall(r"<h2>.*?</h2>", page.text, re.DOTALL)
    return [heading[1] for heading in (re.search(r'"badge (\w+)"', text) for text in headings) if heading]


def link_on(page: httpx.Response, text: str) -> str:
    """Return the address of the link with this text."""
    found = re.search(rf'href="/app([^"]*)">{re.escape(text)}<', page.text)
    assert found, read_text(page.text)
    return found[1].replace("&amp;", "&")
