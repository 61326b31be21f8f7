import pytest

from monitoring.outbound.hosts import host_of


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
            ("tcp://db.example.com:5432", "db.example.com"),
        ],
    )
    def test_is_what_stands_between_scheme_and_port(self, url: str, host: str) -> None:
        assert host_of(url) == host
