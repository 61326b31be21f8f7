"""What all pages have in common: headers, errors, and assets only from our own host."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from app.visitor import Stranger, Visitor, read_forms, read_text
from cast import form_team
from monitoring.app.rendering import CONTENT_SECURITY_POLICY, LIVE_POLICY
from monitoring.app.sentences import DECLINED
from running_service import running_service

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from monitoring.contract.catalogue import Catalogue

PAGES = (
    "/monitors",
    "/monitors/new",
    "/settings",
    "/settings/api-keys",
    "/settings/api-keys/new",
    "/settings/api-keys/rotation",
    "/settings/members",
    "/settings/account",
    "/settings/plan",
    "/settings/audit-log",
)


class TestEveryPage:
    @pytest.mark.parametrize("path", PAGES)
    def test_is_for_who_is_signed_in(self, owner: Visitor, stranger: Stranger, path: str) -> None:
        assert owner.open(path).status_code == 200
        assert stranger.open(path).url.path == "/app/sign-in"

    @pytest.mark.parametrize("path", [*PAGES, "/sign-in", "/join", "/nothing"])
    def test_runs_nothing_inline_and_loads_nothing_from_elsewhere(self, owner: Visitor, path: str) -> None:
        page = owner.open(path)
        assert page.headers["content-security-policy"] in (CONTENT_SECURITY_POLICY, LIVE_POLICY)
        assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son[a-z]+=", page.text)
        assert all(source.startswith("/app/assets/") for source in re.findall(r'\ssrc="([^"]*)"', page.text))

    @pytest.mark.parametrize("path", [*PAGES, "/sign-in", "/nothing"])
    def test_is_kept_nowhere_and_framed_by_nobody(self, owner: Visitor, path: str) -> None:
        headers = owner.open(path).headers
        assert headers["cache-control"] == "no-store"
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-type"] == "text/html; charset=utf-8"
        assert headers["x-request-id"]

    @pytest.mark.parametrize("path", ["/settings/api-keys/new", "/settings/audit-log"])
    def test_of_owners_tells_members_so(self, member: Visitor, path: str) -> None:
        answer = member.open(path)
        assert answer.status_code == 403
        assert DECLINED["owners_only"].text in read_text(answer.text)

    def test_follows_the_prefix_of_the_public_address(self, tmp_path: Path) -> None:
        changes = {"base_url": "https://example.com/monitoring"}
        with running_service(tmp_path, **changes) as service, Stranger(service) as stranger:
            page = stranger.open("/sign-in").text
            assert 'action="/monitoring/app/sign-in"' in page
            asked = stranger.get("/monitors", follow_redirects=False)
            assert asked.headers["location"].startswith("/monitoring/app/sign-in?")


class TestWaysBack:
    @pytest.mark.parametrize("path", ["/nothing", "/monitors/1", "/monitors/1/check"])
    def test_keep_the_navigation_for_who_is_signed_in(self, owner: Visitor, path: str) -> None:
        answer = owner.open(path)
        assert answer.is_client_error
        assert 'aria-label="Main"' in answer.text

    def test_of_a_cursor_that_is_none_keep_it_too(self, owner: Visitor) -> None:
        assert 'aria-label="Main"' in owner.open("/monitors?cursor=none").text

    def test_about_too_many_checks_lead_back_to_the_monitor(self, tmp_path: Path) -> None:
        with running_service(tmp_path, rate_limit_check_now="1/60") as service:
            owner = Visitor(service, form_team(service))
            monitor_path = owner.submit("/monitors/new", url="https://shop.example.com/").url.path
            path = monitor_path.removeprefix("/app")
            came_from = {"Referer": f"{service.base_url}{monitor_path}"}
            form = read_forms(owner.open(path).text)[f"{monitor_path}/check"]
            assert owner.post(f"{path}/check", data=form, headers=came_from).status_code == 200
            answer = owner.post(f"{path}/check", data=form, headers=came_from)
            assert answer.status_code == 429
            assert 'aria-label="Main"' in answer.text
            assert f'href="{monitor_path}">Back</a>' in answer.text

    def test_lead_to_no_other_site(self, stranger: Stranger) -> None:
        answer = stranger.get("/nothing", headers={"Referer": "https://evil.example/elsewhere"})
        assert "evil" not in answer.text


class TestAssets:
    def test_are_kept_for_good_under_an_address_that_changes_with_them(self, stranger: Stranger) -> None:
        addresses = re.findall(r'(?:href|src)="/app(/assets/[^"]*)"', stranger.open("/sign-in").text)
        assert len(addresses) >= 3
        for address in addresses:
            asset = stranger.get(address)
            assert asset.status_code == 200
            assert "immutable" in asset.headers["cache-control"]

    def test_are_kept_under_no_address_that_may_be_another_versions(self, stranger: Stranger) -> None:
        for address in ("/assets/app.css", "/assets/app.css?v=000000000000"):
            assert stranger.get(address).headers["cache-control"] == "no-store"

    @pytest.mark.parametrize("name", ["nothing.css", "..%2fapplication.py", "__init__.py", "app.css/"])
    def test_are_nothing_else(self, stranger: Stranger, name: str) -> None:
        assert stranger.get(f"/assets/{name}").status_code == 404


class TestErrors:
    def test_of_an_unknown_page_are_a_page(self, stranger: Stranger, catalogue: Catalogue) -> None:
        answer = stranger.open("/nothing")
        assert says(answer, catalogue, "not_found")

    def test_name_the_methods_there_are(self, stranger: Stranger, catalogue: Catalogue) -> None:
        answer = stranger.put("/sign-in")
        assert says(answer, catalogue, "method_not_allowed")
        assert {"GET", "POST"} <= set(answer.headers["allow"].split(", "))

    @pytest.mark.parametrize(
        "monitor_id", ["x", "01890000-0000-7000-8000-000000000000", "%00", "a%2fb", "%ff"]
    )
    def test_of_an_id_that_nothing_has_are_a_404(self, owner: Visitor, monitor_id: str) -> None:
        assert owner.get(f"/monitors/{monitor_id}").status_code == 404

    def test_leave_the_api_as_it_is(self, stranger: Stranger, catalogue: Catalogue) -> None:
        answer = stranger.get("/../application")
        assert answer.json() == catalogue.respond("not_found").body


def says(answer: httpx.Response, catalogue: Catalogue, problem: str) -> bool:
    reply = catalogue.respond(problem)
    return answer.status_code == reply.status and reply.body["error"] in read_text(answer.text)
