from __future__ import annotations

from datetime import UTC, datetime

import pytest

from monitoring.outbound.retry_after import read_retry_after

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0),
        ("120", 120),
        ("Fri, 20 Nov 2026 12:01:00 GMT", 60),
        ("Fri, 20 Nov 2026 12:01:00", 60),
        ("Fri, 20 Nov 2026 11:00:00 GMT", 0),
        ("9" * 5000, 999_999_999),
        ("-1", None),
        ("soon", None),
        (f"Fri, 20 Nov {'9' * 20} 12:01:00 GMT", None),
        (f"Fri, 20 Nov 2026 {'9' * 20}:01:00 GMT", None),
        ("Fri, 31 Dec 9999 23:59:59 -1200", 251_607_167_999),
        ("1 Jan 0001 00:00:00 +1400", 0),
        ("²", None),
        ("", None),
    ],
)
def test_it_is_seconds_or_a_date(header: str, seconds: float | None) -> None:
    assert read_retry_after(header, NOON) == seconds
