import pytest

from monitoring.outbound.hosts import host_of, is_host


class TestHostOfAUrl:
    @pytest.mark.parametrize(
        ("url", "host"),
        [
            ("https://shop.example.com", "shop.example.com"),
            ("https://shop.example.com/health?deep=1", "shop.example.com"),
            ("https://shop.example.com?deep=1", "shop.example.com"),
            ("http://Shop.Example.com:8080/", "Shop.Example.com"),
            ("http://192.0.2.7:80", "192.0.2.7"),
            ("https://[2001:db8::7]:8443/", "2001:db8::7"),
            ("http://localhost/http://other.example.com", "localhost"),
        ],
    )
    def test_is_what_stands_between_scheme_and_port(self, url: str, host: str) -> None:
        assert host_of(url) == host


class TestHost:
    @pytest.mark.parametrize(
        "host",
        [
            "localhost",
            "shop.example.com",
            "shop.example.com.",
            "xn--bcher-kva.example",
            "1password.com",
            "_dmarc.example.com",
            "192.0.2.7",
            "192.0.2.7.",
            "2001:db8::7",
            "::ffff:192.0.2.7",
            "0x.com",
        ],
    )
    def test_is_a_name_or_an_address(self, host: str) -> None:
        assert is_host(host)

    @pytest.mark.parametrize(
        "host",
        [
            "2130706433",
            "127.1",
            "0x7f.1",
            "0x7f000001",
            "127.0.0.0x1",
            "0177.0.0.1",
            "999.1.1.1",
            "1.2.3.4.5",
            "example.1",
            ":::",
            "1:2",
            "12345::6",
            ".".join(["a" * 63] * 4),
        ],
    )
    def test_is_no_number_in_disguise_no_broken_address_and_no_endless_name(self, host: str) -> None:
        assert not is_host(host)
