"""How records are read; tests/checks/probes/test_dns.py asks for them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.outbound.name_questions import UnreadableRecord, read_record

TYPES = ("A", "AAAA", "CAA", "CNAME", "MX", "NS", "PTR", "SOA", "SRV", "TXT")


class TestRecord:
    @pytest.mark.parametrize(
        ("record_type", "written"),
        [
            ("A", "192.0.2"),
            ("A", "2001:db8::1"),
            ("A", "192.0.2.1 192.0.2.2"),
            ("AAAA", "192.0.2.1"),
            ("MX", "mail.example.com"),
            ("MX", "70000 mail.example.com"),
            ("NS", ""),
            ("CNAME", f"{'a' * 64}.example"),
            ("SRV", "0 5 sip.example.com"),
            ("SOA", "ns1.example.com"),
            ("CAA", "issue letsencrypt.org"),
            ("TXT", '"unfinished'),
        ],
    )
    def test_that_is_none_of_its_type_is_refused(self, record_type: str, written: str) -> None:
        with pytest.raises(UnreadableRecord):
            read_record(record_type, written)

    @given(st.sampled_from(TYPES), st.text(max_size=60) | st.from_regex(r"[0-9 .:\"\\a();@#*-]{1,40}"))
    def test_is_read_or_refused_whatever_it_is(self, record_type: str, written: str) -> None:
        with suppress(UnreadableRecord):
            assert isinstance(read_record(record_type, written), bytes)

    @given(st.text(max_size=1000).filter(lambda text: not text.startswith('"')))
    def test_of_text_is_its_text_as_it_is(self, written: str) -> None:
        assert read_record("TXT", written) == written.encode()
