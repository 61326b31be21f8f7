from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.outbound.addresses import is_permitted
from monitoring.outbound.targets import DisguisedAddress, UnusableUrl, follow_location, read_target


class TestTarget:
    @pytest.mark.parametrize(
        ("url", "normal"),
        [
            ("http://shop.example", "http://shop.example/"),
            ("HTTPS://Shop.Example:443/Health?deep=1#top", "https://shop.example/Health?deep=1"),
            ("https://shop.example:80", "https://shop.example:80/"),
            ("http://shop.example?deep=1", "http://shop.example/?deep=1"),
            ("http://shop.example./", "http://shop.example./"),
            ("http://shop.example:/", "http://shop.example/"),
            ("http://192.0.2.7:8080/", "http://192.0.2.7:8080/"),
            ("http://192.0.2.7./", "http://192.0.2.7/"),
            ("http://[2001:DB8::0007]:8443/", "http://[2001:db8::7]:8443/"),
            (
                "http://a.example/a b/ü?q=ü&r=%C3%BC|{}",
                "http://a.example/a%20b/%C3%BC?q=%C3%BC&r=%C3%BC|%7B%7D",
            ),
            ("http://a.example/\\", "http://a.example/%5C"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
            ("http://sh%6Fp.example/", "http://shop.example/"),
            # UTS 46, Non-transitional Processing, without the rules of registries
            ("http://straße.example/", "http://xn--strae-oqa.example/"),
            ("http://βόλος.example/", "http://xn--nxasmm1c.example/"),
            ("http://نامه\u200cای.example/", "http://xn--mgba3gch31f060k.example/"),  # noqa: RUF001
            ("http://İstanbul.example/", "http://xn--istanbul-o0e.example/"),
            ("http://ＳＨＯＰ。example/", "http://shop.example/"),  # noqa: RUF001
            ("http://sh\u00adop.example/", "http://shop.example/"),
            ("http://💩.example/", "http://xn--ls8h.example/"),
            ("http://a_b.bücher.example/", "http://a_b.xn--bcher-kva.example/"),
            ("http://xn--strae-oqa.bücher.example/", "http://xn--strae-oqa.xn--bcher-kva.example/"),
            ("http://a_b.example/", "http://a_b.example/"),
            (f"http://ü.{'a' * 63}.{'b.' * 90}a/", f"http://xn--tda.{'a' * 63}.{'b.' * 90}a/"),
            (f"http://{'a.' * 126}a./", f"http://{'a.' * 126}a./"),
            ("http://a.example/@b", "http://a.example/@b"),
            ("http://\uff11\uff12\uff17.0.0.1/", "http://127.0.0.1/"),
            ("http://127。0。0。1/", "http://127.0.0.1/"),
            ("http://%31%32%37.0.0.1/", "http://127.0.0.1/"),
            ("http://①②⑦.0.0.1/", "http://127.0.0.1/"),
            (f"http://{'bücher。' * 10}example/", f"http://{'xn--bcher-kva.' * 10}example/"),
        ],
    )
    def test_has_one_form_whatever_is_written(self, url: str, normal: str) -> None:
        assert read_target(url).url == normal

    def test_tells_an_address_from_a_name(self) -> None:
        assert read_target("http://192.0.2.7/").address == IPv4Address("192.0.2.7")
        assert read_target("http://[::ffff:127.0.0.1]/").address == IPv6Address("::ffff:127.0.0.1")
        assert read_target("http://192.0.2.example/").address is None

    @pytest.mark.parametrize(
        "host",
        [
            "127.1",
            "127.0.1",
            "0x7f.1",
            "0x7f000001",
            "0X7F.0.0.1",
            "2130706433",
            "017700000001",
            "0177.0.0.1",
            "127.0.0.01",
            "127.0.0.1.1",
            "127.0.0.256",
            "example.0x",
            "\uff11\uff12\uff17.1",
            "%30x7f.1",
            "0",
        ],
    )
    def test_is_no_number_in_disguise(self, host: str) -> None:
        for url in (f"http://{host}/", f"http://{host}./", f"http://{host}:80"):
            with pytest.raises(DisguisedAddress):
                read_target(url)

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "shop.example",
            "//shop.example/",
            "ftp://shop.example/",
            "file:///etc/passwd",
            "gopher://127.0.0.1:6379/_FLUSHALL",
            "http:///shop.example/",
            "http://",
            "http://user@shop.example/",
            "http://user:password@shop.example/",
            "http://shop.example\\@other.example/",
            "http://shop.example@127.0.0.1/",
            "http://shop example/",
            "http://shop%20.example/",
            "http://shop%00.example/",
            "http://shop%2F.example/",
            "http://shop%ff.example/",
            "http://shop.example:0/",
            "http://shop.example:65536/",
            "http://shop.example:8x/",
            "http://shop.example:80:80/",
            "http://[::1/",
            "http://[::1%25eth0]/",
            "http://[fe80::1%eth0]/",
            "http://[v1.x]/",
            "http://[127.0.0.1]/",
            "http://::1/",
            "http://shop..example/",
            "http://.shop.example/",
            "http://shop.example../",
            "http://./",
            f"http://{'a' * 64}.example/",
            f"http://{'ü' * 63}.example/",
            "http://a\u200db.example/",
            "http://\u0301a.example/",
            "http://\u05d0\u05d1c.example/",
            "http://xn--bücher.example/",
            "http://ü\u2260.example\ufffd/",
            f"http://{'a.' * 127}example/",
            "http://shop.example/\r\nHost: other.example",
            "http://shop.example/\n",
            "http://shop.example/\x00",
            "http://shop.example/" + "a" * 9000,
        ],
    )
    def test_is_not_found_in_what_is_no_plain_url(self, url: str) -> None:
        with pytest.raises(UnusableUrl) as raised:
            read_target(url)
        assert not isinstance(raised.value, DisguisedAddress)

    @pytest.mark.parametrize(
        "host", ["\ufdfa" * 2000, "\ufdfa" * 64, "\ufdfa.example" * 40, "%EF%B7%BA" * 900, "\ufdfa。" * 128]
    )
    def test_longer_than_a_name_is_refused_before_time_is_spent_on_it(
        self, host: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        prepared: list[str] = []
        monkeypatch.setattr("idna.uts46_remap", prepared.append)
        with pytest.raises(UnusableUrl):
            read_target(f"http://{host}/")
        assert prepared == []

    @given(st.text(max_size=40))
    def test_is_read_or_refused_and_reading_it_again_changes_nothing(self, rest: str) -> None:
        try:
            target = read_target(f"http://{rest}")
        except UnusableUrl:
            return
        assert read_target(target.url) == target
        assert target.url.isascii()
        assert target.url.isprintable()
        assert " " not in target.url

    @given(st.ip_addresses(v=4), st.sampled_from(["{}", "0x{:x}", "0{:o}"]))
    def test_of_a_private_address_is_never_a_name(self, address: IPv4Address, form: str) -> None:
        host = form.format(int(address))
        with pytest.raises(DisguisedAddress):
            read_target(f"http://{host}/")
        assert read_target(f"http://{address}/").address == address

    def test_keeps_the_judgement_of_addresses_in_brackets(self) -> None:
        address = read_target("http://[0:0:0:0:0:ffff:7f00:1]/").address
        assert address
        assert not is_permitted(address)


class TestLocation:
    @pytest.mark.parametrize(
        ("location", "url"),
        [
            ("/login", "https://shop.example:8443/login"),
            ("login", "https://shop.example:8443/a/login"),
            ("../login", "https://shop.example:8443/login"),
            ("?page=2", "https://shop.example:8443/a/b?page=2"),
            ("", "https://shop.example:8443/a/b?c=d"),
            ("//other.example/x", "https://other.example/x"),
            ("http://other.example", "http://other.example/"),
            ("http://straße.example/ß", "http://xn--strae-oqa.example/%C3%9F"),
            ("//stra%C3%9Fe.example:81", "https://xn--strae-oqa.example:81/"),
            (" /login ", "https://shop.example:8443/login"),
            ("/a b", "https://shop.example:8443/a%20b"),
        ],
    )
    def test_is_read_relative_to_where_it_came_from(self, location: str, url: str) -> None:
        assert follow_location(read_target("https://shop.example:8443/a/b?c=d"), location).url == url

    @pytest.mark.parametrize(
        "location",
        [
            "javascript:alert(1)",
            "data:,x",
            "ftp://other.example/",
            "http://user@other.example/",
            "http://[::1/",
            "http://[x]/",
            "/\t/other.example",
            "ht\ntp://other.example",
            "\x00http://other.example",
        ],
    )
    def test_that_leads_nowhere_is_refused(self, location: str) -> None:
        with pytest.raises(UnusableUrl):
            follow_location(read_target("http://shop.example/"), location)
