from __future__ import annotations

from datetime import datetime

import pytest

from monitoring.notifications.quiet_hours import find_quiet_end

NIGHT = {"starts_at": "22:00", "ends_at": "07:00", "time_zone": "Europe/Berlin"}


@pytest.mark.parametrize(
    ("hours", "moment", "end"),
    [
        ({}, "2026-11-20T21:00Z", "2026-11-21T06:00Z"),
        ({}, "2026-11-21T05:59Z", "2026-11-21T06:00Z"),
        ({}, "2026-11-21T06:00Z", None),
        ({}, "2026-11-20T20:59Z", None),
        # The night in which clocks go forward, and the one in which they go back.
        ({}, "2026-03-28T22:00Z", "2026-03-29T05:00Z"),
        ({}, "2026-10-24T22:00Z", "2026-10-25T06:00Z"),
        ({"starts_at": "12:00", "ends_at": "13:00"}, "2026-11-20T11:30Z", "2026-11-20T12:00Z"),
        ({"starts_at": "12:00", "ends_at": "13:00"}, "2026-11-20T12:00Z", None),
        ({"starts_at": "09:00", "ends_at": "09:00"}, "2026-11-20T08:00Z", "2026-11-21T08:00Z"),
        ({"starts_at": "09:00", "ends_at": "09:00"}, "2026-11-20T07:59Z", "2026-11-20T08:00Z"),
        ({"time_zone": "Gone/Away"}, "2026-11-20T21:00Z", None),
    ],
)
def test_they_end_by_the_clocks_of_their_zone(hours: dict[str, str], moment: str, end: str | None) -> None:
    found = find_quiet_end({"quiet_hours": NIGHT | hours}, datetime.fromisoformat(moment))
    assert found == (datetime.fromisoformat(end) if end else None)
