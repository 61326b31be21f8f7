"""The app shows one world at a time, its address says which, and a person changes over by a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.visitor import PASSWORD, Stranger, Visitor, read_forms, read_text
from cast import Player
from monitoring.auth.sandboxes import open_sandbox

if TYPE_CHECKING:
    from monitoring.auth.models import Team
    from running_service import RunningService

BAND = "Nothing here is real"


def create_monitor(player: Player, name: str) -> str:
    answer = player.post("/api/monitors", json={"url": "https://up.test/", "name": name, "paused": True})
    monitor_id: str = answer.raise_for_status().json()["id"]
    return monitor_id


class TestWorlds:
    def test_each_has_its_own_monitors_at_its_own_address(
        self, service: RunningService, owner: Visitor, alice: Player, team: Team
    ) -> None:
        live = create_monitor(alice, "Live shop")
        with Player(service, service.run(open_sandbox(team.id))) as tess:
            test = create_monitor(tess, "Tested shop")
        live_page, test_page = (read_text(owner.open(f"{at}/monitors").text) for at in ("", "/sandbox"))
        words = ("Live shop", "Tested shop", BAND)
        assert [word in live_page for word in words] == [True, False, False]
        assert [word in test_page for word in words] == [False, True, True]
        assert owner.open(f"/monitors/{test}").status_code == 404
        assert owner.open(f"/sandbox/monitors/{live}").status_code == 404
        assert owner.open(f"/sandbox/monitors/{test}").status_code == 200

    def test_every_link_of_a_sandboxs_page_stays_in_it(self, owner: Visitor) -> None:
        page = owner.open("/sandbox/monitors").text
        for path in ("/monitors", "/incidents", "/settings"):
            assert f'href="/app/sandbox{path}"' in page
        assert page.count('href="/app/monitors"') == 1  # back to live

    def test_people_and_plan_are_of_both(self, owner: Visitor) -> None:
        page = owner.open("/sandbox/settings/api-keys").text
        assert 'href="/app/settings/account"' in page
        assert "/app/sandbox/settings/account" not in page
        assert owner.open("/sandbox/settings/members").status_code == 404
        assert 'action="/app/sign-out"' in page

    def test_a_form_acts_in_the_world_of_its_page(self, owner: Visitor) -> None:
        created = owner.submit("/sandbox/settings/api-keys/new", name="CI", scopes=["monitors:read"])
        assert "mon_test_" in created.text
        assert "mon_live_" not in created.text
        assert "CI" in read_text(owner.open("/sandbox/settings/api-keys").text)
        assert "mon_test_" not in owner.open("/settings/api-keys").text

    def test_whoever_signs_in_first_comes_back_to_the_sandbox(
        self, owner: Visitor, stranger: Stranger
    ) -> None:
        asked = stranger.open("/sandbox/incidents")
        form = read_forms(asked.text)["/app/sign-in"]
        came = stranger.post("/sign-in", data=form | {"email": owner.email, "password": PASSWORD})
        assert came.url.path == "/app/sandbox/incidents"

    def test_a_viewer_only_looks_in_the_sandbox_too(self, service: RunningService, team: Team) -> None:
        with Visitor(service, team, "viewer") as viewer:
            assert viewer.open("/sandbox/monitors").status_code == 200
            assert viewer.open("/sandbox/monitors/new").status_code == 403
