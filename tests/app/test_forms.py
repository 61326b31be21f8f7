"""The app accepts forms only from its own pages (cross-site request forgery)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.visitor import PASSWORD, Stranger, Visitor, read_forms, read_text
from monitoring.app.sentences import DECLINED
from monitoring.contract.bodies import FORM

if TYPE_CHECKING:
    import httpx

    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

NEW_PASSWORD = "another horse battery staple"


def change_password(visitor: Visitor, csrf_token: str, **headers: str) -> httpx.Response:
    fields = {"current_password": PASSWORD, "new_password": NEW_PASSWORD, "csrf_token": csrf_token}
    return visitor.post("/settings/account/password", data=fields, headers=headers)


def token_of(visitor: Stranger, path: str = "/settings/account") -> str:
    token = next(iter(read_forms(visitor.open(path).text).values()))["csrf_token"]
    assert isinstance(token, str)
    return token


def is_out_of_date(answer: httpx.Response) -> bool:
    return answer.status_code == 403 and DECLINED["form_out_of_date"].text in read_text(answer.text)


class TestAForm:
    @pytest.mark.parametrize("sent", ["", "0" * 64, "é"], ids=["none", "a wrong one", "nonsense"])
    def test_without_the_token_does_nothing(self, owner: Visitor, stranger: Stranger, sent: str) -> None:
        assert is_out_of_date(change_password(owner, sent))
        assert stranger.sign_in(owner.email, PASSWORD).url.path == "/app/monitors"

    def test_with_the_token_of_another_session_does_nothing(self, owner: Visitor, member: Visitor) -> None:
        assert is_out_of_date(change_password(owner, token_of(member)))

    def test_with_the_token_from_before_signing_in_does_nothing(
        self, service: RunningService, owner: Visitor
    ) -> None:
        with Stranger(service) as visitor:
            before = token_of(visitor, "/sign-in")
            visitor.sign_in(owner.email, PASSWORD)
            answer = visitor.post("/settings/account/password", data={"csrf_token": before})
            assert is_out_of_date(answer)

    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_that_another_site_sends_does_nothing_even_with_the_token(
        self, owner: Visitor, site: str
    ) -> None:
        assert is_out_of_date(change_password(owner, token_of(owner), **{"Sec-Fetch-Site": site}))

    @pytest.mark.parametrize("path", ["/sign-out", "/settings/account/sign-out-everywhere", "/sign-in"])
    def test_that_another_site_sends_gives_the_browser_no_other_cookie(
        self, stranger: Stranger, path: str
    ) -> None:
        """Browsers send such a form without the session's cookie, which a new cookie would replace."""
        for headers in ({"Sec-Fetch-Site": "cross-site"}, {}):
            answer = stranger.post(path, data={"x": "1"}, headers=headers, follow_redirects=False)
            assert answer.status_code in (303, 403)
            assert "set-cookie" not in answer.headers

    def test_of_a_page_of_ours_is_taken(self, owner: Visitor, stranger: Stranger) -> None:
        changed = change_password(owner, token_of(owner), **{"Sec-Fetch-Site": "same-origin"})
        assert changed.status_code == 200
        assert stranger.sign_in(owner.email, NEW_PASSWORD).url.path == "/app/monitors"

    def test_signing_in_needs_a_token_too(self, owner: Visitor, stranger: Stranger) -> None:
        assert is_out_of_date(stranger.post("/sign-in", data={"email": owner.email, "password": PASSWORD}))

    @pytest.mark.parametrize(
        ("body", "content_type", "problem"),
        [
            (b"{}", "application/json", "unsupported_media_type"),
            (b"x=1", "", "unsupported_media_type"),
            (b"x=1", "multipart/form-data; boundary=x", "unsupported_media_type"),
            (b"x=%ff", "application/x-www-form-urlencoded", "malformed_request"),
            (b"x=1&" * 501, "application/x-www-form-urlencoded", "malformed_request"),
            (b"x" * 2_000_000, "application/x-www-form-urlencoded", "body_too_large"),
        ],
        ids=["JSON", "no type", "multipart", "no UTF-8", "many fields", "2 MB"],
    )
    def test_that_no_browser_sends_is_refused(
        self, stranger: Stranger, catalogue: Catalogue, body: bytes, content_type: str, problem: str
    ) -> None:
        answer = stranger.post("/sign-in", content=body, headers={"Content-Type": content_type})
        assert answer.status_code == catalogue.templates[problem].status
        values = {"expected": FORM, "given": content_type or "no Content-Type"}
        assert str(catalogue.respond(problem, values=values).body["error"]) in read_text(answer.text)
