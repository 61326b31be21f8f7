from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.outbound.cookies import MAX_COOKIE_BYTES, MAX_HEADER_BYTES, Cookies
from monitoring.outbound.targets import read_target

LONG_AGO = "Thu, 01 Jan 1970 00:00:00 GMT"


def sent(set_by: str, header: str, to: str, given: str = "") -> str:
    """Return the Cookie header of a request after an answer with one cookie."""
    cookies = Cookies()
    cookies.keep(read_target(set_by), [header.encode("latin-1")])
    return cookies.write(read_target(to), given)


class TestSite:
    @pytest.mark.parametrize(
        ("set_by", "header", "to"),
        [
            ("http://shop.example/", "a=1", "http://shop.example/"),
            ("http://shop.example/", "a=1", "https://shop.example:8443/"),
            ("http://127.0.0.1:81/", "a=1", "http://127.0.0.1:82/"),
            ("http://127.0.0.1/", "a=1; Domain=127.0.0.1", "http://127.0.0.1/"),
            ("http://[::1]/", "a=1", "http://[::1]/"),
            ("http://localhost/", "a=1; Domain=localhost", "http://localhost/"),
            ("http://www.shop.co.uk/", "a=1; Domain=shop.co.uk", "http://login.shop.co.uk/"),
            ("http://www.shop.co.uk/", "a=1; domain = .Shop.co.uk", "http://shop.co.uk/"),
            ("http://shop.example/", "a=1; Domain=shop.example", "http://www.shop.example/"),
            ("http://alice.github.io/", "a=1; Domain=alice.github.io", "http://alice.github.io/"),
        ],
    )
    def test_gets_back_what_it_set(self, set_by: str, header: str, to: str) -> None:
        assert sent(set_by, header, to) == "a=1"

    @pytest.mark.parametrize(
        ("set_by", "header", "to"),
        [
            ("http://127.0.0.1/", "a=1", "http://127.0.0.2/"),
            ("http://127.0.0.1/", "a=1; Domain=0.0.1", "http://1.0.0.1/"),
            ("http://shop.example/", "a=1", "http://www.shop.example/"),
            ("http://shop.example/", "a=1", "http://other.example/"),
            ("http://shop.example/", "a=1; Domain=other.example", "http://other.example/"),
            ("http://shop.example/", "a=1; Domain=www.shop.example", "http://www.shop.example/"),
            ("http://shop.example/", "a=1; Domain=example", "http://other.example/"),
            ("http://shop.co.uk/", "a=1; Domain=co.uk", "http://other.co.uk/"),
            ("http://alice.github.io/", "a=1; Domain=github.io", "http://bob.github.io/"),
            ("http://co.uk/", "a=1; Domain=co.uk", "http://other.co.uk/"),
            ("http://notshop.example/", "a=1; Domain=shop.example", "http://shop.example/"),
            ("http://shop.example/", "a=1; Domain=shop.example", "http://notshop.example/"),
        ],
    )
    def test_of_another_gets_nothing(self, set_by: str, header: str, to: str) -> None:
        assert sent(set_by, header, to) == ""


class TestPath:
    @pytest.mark.parametrize(
        ("header", "path", "is_sent"),
        [
            ("a=1; Path=/", "/anywhere", True),
            ("a=1; Path=/app", "/app", True),
            ("a=1; Path=/app", "/app?next=1", True),
            ("a=1; Path=/app", "/app/x", True),
            ("a=1; Path=/app/", "/app/x", True),
            ("a=1; Path=/app", "/apple", False),
            ("a=1; Path=/app", "/", False),
            ("a=1", "/login/done", True),
            ("a=1; Path=relative", "/login", True),
            ("a=1", "/", False),
        ],
    )
    def test_says_where_in_a_site_a_cookie_goes(self, header: str, path: str, *, is_sent: bool) -> None:
        came = sent("http://shop.example/login/form?a=/b/c", header, f"http://shop.example{path}")
        assert came == ("a=1" if is_sent else "")

    def test_that_is_longer_comes_first(self) -> None:
        cookies, target = Cookies(), read_target("http://shop.example/app/x")
        cookies.keep(target, [b"a=1; Path=/", b"a=2; Path=/app"])
        assert cookies.write(target) == "a=2; a=1"


class TestCookie:
    @pytest.mark.parametrize(
        ("scheme", "host", "is_sent"),
        [
            ("https", "shop.example", True),
            ("http", "shop.example", False),
            ("http", "127.0.0.1", True),
            ("http", "localhost", True),
        ],
    )
    def test_that_is_secure_goes_by_tls_or_stays_on_the_machine(
        self, scheme: str, host: str, *, is_sent: bool
    ) -> None:
        came = sent(f"https://{host}/", "a=1; Secure", f"{scheme}://{host}/")
        assert came == ("a=1" if is_sent else "")

    def test_that_is_secure_is_not_taken_in_the_clear(self) -> None:
        assert sent("http://shop.example/", "a=1; secure", "https://shop.example/") == ""

    @pytest.mark.parametrize(
        "header",
        ["a=; Max-Age=0", "a=; Max-Age=-1", f"a=; Expires={LONG_AGO}", f"a=2; Expires={LONG_AGO}; Max-Age=x"],
    )
    def test_is_deleted_by_one_that_is_over(self, header: str) -> None:
        cookies, target = Cookies(), read_target("http://shop.example/")
        cookies.keep(target, [b"a=1", header.encode()])
        assert cookies.write(target) == ""

    @pytest.mark.parametrize(
        ("header", "pair"),
        [
            ("a=b=c", "a=b=c"),
            ('a="b c"; HttpOnly; SameSite=Lax', 'a="b c"'),
            ("a=", "a="),
            ("alone", "alone"),
            ("a=1; Expires=never", "a=1"),
            ("a=1; Expires=Fri, 01-Jan-2100 00:00:00 GMT", "a=1"),
            (f"a=1; Max-Age=60; Expires={LONG_AGO}", "a=1"),
            ("a=\xfc", "a=\xfc"),
            ("", ""),
            ("; Path=/", ""),
            ("a=1\rX-Injected: yes", ""),
            ("a=\x00", ""),
            (f"a={'x' * MAX_COOKIE_BYTES}", ""),
        ],
    )
    def test_is_sent_as_it_was_written(self, header: str, pair: str) -> None:
        assert sent("http://shop.example/", header, "http://shop.example/") == pair

    @given(st.text(max_size=60), st.text(alphabet=" ,:-+()0129JanThuGMT", max_size=40))
    def test_is_read_or_ignored_whatever_comes(self, written: str, date: str) -> None:
        cookies, target = Cookies(), read_target("http://www.shop.example/")
        cookies.keep(target, [written.encode(), f"a={written}; Domain={written}; Expires={date}".encode()])
        assert "\n" not in cookies.write(target)

    def test_replaces_an_earlier_one_and_a_given_one_of_its_name(self) -> None:
        cookies, target = Cookies(), read_target("http://shop.example/")
        cookies.keep(target, [b"a=1", b"b=2"])
        cookies.keep(target, [b"a=3"])
        assert cookies.write(target, "a=given; c=given") == "c=given; a=3; b=2"

    def test_is_left_out_when_the_header_would_grow_too_long(self) -> None:
        cookies, target = Cookies(), read_target("http://shop.example/")
        cookies.keep(target, [b"c%d=%b" % (number, b"x" * 1000) for number in range(50)])
        assert 7000 < len(cookies.write(target)) < MAX_HEADER_BYTES + 100
