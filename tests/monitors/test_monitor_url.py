"""The document's pattern for the URLs that are checked: which hosts it takes."""

import re

import pytest

from monitoring.contract.document import published_document

[PATTERN] = [published_document().root["components"]["schemas"]["MonitorUrl"]["pattern"]]


def _is_taken(host: str) -> bool:
    return re.search(PATTERN, f"https://{host}:8443/health") is not None


class TestHostOfAMonitorUrl:
    @pytest.mark.parametrize(
        "host",
        [
            "localhost",
            "shop.example.com",
            "shop.example.com.",
            "xn--bcher-kva.example",
            "1password.com",
            "1password",
            "10-0-0-7-web",
            "0x.com",
            "192.0.2.7",
            "192.0.2.7.",
            "[2001:db8::7]",
            "[::]",
            "[1:2:3:4:5:6:7:8]",
            "[1::8]",
            "[1:2:3:4:5:6:7::]",
            "[::ffff:192.0.2.7]",
        ],
    )
    def test_may_be_a_name_or_an_address(self, host: str) -> None:
        assert _is_taken(host)

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
            "_dmarc",
            "[:::]",
            "[1:2]",
            "[12345::6]",
            "[1::2::3]",
            "[1:2:3:4:5:6:7:8::]",
        ],
    )
    def test_may_not_be_a_number_in_disguise_nor_a_broken_address(self, host: str) -> None:
        assert not _is_taken(host)
