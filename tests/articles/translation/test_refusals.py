"""Retry-After is read in both its forms, and a reason is one short line."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from monitoring.articles.translation.engines.refusals import judge_status, read_retry_after

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


class TestRetryAfter:
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
            ("²", None),
            ("", None),
        ],
    )
    def test_is_seconds_or_a_date(self, header: str, seconds: float | None) -> None:
        assert read_retry_after(header, NOON) == seconds


class TestReason:
    def test_has_what_the_server_says_in_one_short_line(self) -> None:
        error = judge_status("DeepL", 400, {}, message=f"Bad\n  request {'x' * 1000}")
        assert str(error).startswith("DeepL refused the request (400): Bad request xxx")
        assert len(str(error)) < 250
