from __future__ import annotations

import pytest

from monitoring.outbound.redirects import Hop, is_redirect, next_hop
from monitoring.outbound.targets import read_target

SECRET = {"Authorization": "Bearer secret", "Cookie": "a=b", "X-Whatever": "secret"}
HARMLESS = {"User-Agent": "mine", "accept": "text/html", "Accept-Language": "de"}
HEADERS = {**SECRET, **HARMLESS, "Content-Type": "text/plain"}


def hop(method: str = "GET", url: str = "http://shop.example/a") -> Hop:
    return Hop(read_target(url), method, HEADERS, b"body")


class TestRedirect:
    @pytest.mark.parametrize("status_code", [301, 302, 303, 307, 308])
    def test_needs_a_location(self, status_code: int) -> None:
        assert is_redirect(status_code, "/b")
        assert not is_redirect(status_code, None)

    @pytest.mark.parametrize("status_code", [200, 201, 300, 304, 305, 306])
    def test_has_one_of_five_statuses(self, status_code: int) -> None:
        assert not is_redirect(status_code, "/b")

    @pytest.mark.parametrize(
        ("method", "status_code", "following"),
        [
            ("POST", 301, "GET"),
            ("POST", 302, "GET"),
            ("POST", 303, "GET"),
            ("POST", 307, "POST"),
            ("POST", 308, "POST"),
            ("PUT", 301, "PUT"),
            ("PUT", 302, "PUT"),
            ("PUT", 303, "GET"),
            ("HEAD", 303, "HEAD"),
            ("HEAD", 301, "HEAD"),
            ("GET", 303, "GET"),
        ],
    )
    def test_changes_the_method_as_the_fetch_standard_says(
        self, method: str, status_code: int, following: str
    ) -> None:
        after = next_hop(hop(method), status_code, "/b")
        assert after.method == following
        assert after.target.url == "http://shop.example/b"
        if following == method:
            assert (after.headers, after.body) == (HEADERS, b"body")
        else:
            assert (after.headers, after.body) == ({**SECRET, **HARMLESS}, None)

    @pytest.mark.parametrize(
        "location",
        [
            "https://shop.example/a",
            "http://shop.example:8080/a",
            "http://www.shop.example/a",
            "//other.example/",
        ],
    )
    def test_to_another_origin_takes_only_along_what_browsers_tell_everybody(self, location: str) -> None:
        after = next_hop(hop("POST"), 307, location)
        assert (after.method, after.headers, after.body) == ("POST", HARMLESS, None)

    def test_back_to_the_origin_does_not_bring_the_rest_back(self) -> None:
        away = next_hop(hop("POST"), 307, "http://other.example/")
        back = next_hop(away, 307, "http://shop.example/a")
        assert (back.headers, back.body) == (HARMLESS, None)
