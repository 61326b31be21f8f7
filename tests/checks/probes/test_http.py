from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.checks.probes.http import Expectation, HttpProbe, judge
from monitoring.checks.probes.protocol import Finding
from monitoring.monitors.health import Outcome
from monitoring.outbound.dialer import open_dialer
from monitoring.outbound.exchanges import Exchange, OutboundRequest
from monitoring.outbound.failures import Failure, FailureCode
from monitoring.outbound.stopwatch import Timings

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)

ANYTHING = Expectation(
    expected_status_codes=("1xx", "2xx", "3xx", "4xx", "5xx"),
    required_keyword=None,
    forbidden_keyword=None,
    tls_expiry_warning_days=0,
    slow_threshold_ms=None,
)
UNREADABLE = ["http://[::1]:99999/", "http://0x7f.1/", "http://a..example/", "gopher://shop.example/", ""]
PLAIN_ANSWER = Exchange(status_code=200, body=b"Welcome to the shop")


def probe_of(url: str) -> HttpProbe:
    return HttpProbe(OutboundRequest(method="GET", url=url, timeout_seconds=10), ANYTHING)


def judge_status(status_code: int, *patterns: str) -> Finding:
    expectation = replace(ANYTHING, expected_status_codes=patterns)
    return judge(PLAIN_ANSWER._replace(status_code=status_code), expectation, NOW)


def judge_expiry(expires_in: timedelta | None, warning_days: int) -> Finding:
    exchange = PLAIN_ANSWER._replace(tls_expires_at=None if expires_in is None else NOW + expires_in)
    return judge(exchange, replace(ANYTHING, tls_expiry_warning_days=warning_days), NOW)


def judge_slowness(total_ms: float, slow_threshold_ms: int | None) -> Finding:
    exchange = PLAIN_ANSWER._replace(timings=Timings(total_ms=total_ms))
    return judge(exchange, replace(ANYTHING, slow_threshold_ms=slow_threshold_ms), NOW)


class TestFailure:
    @given(st.sampled_from(FailureCode), st.text())
    def test_is_down_in_its_own_words(self, code: FailureCode, message: str) -> None:
        exchange = Exchange(failure=Failure(code, message))
        assert judge(exchange, ANYTHING, NOW) == Finding(Outcome.DOWN, code, message)

    def test_outweighs_an_answer_that_came(self) -> None:
        exchange = PLAIN_ANSWER._replace(failure=Failure(FailureCode.RESPONSE_TOO_LARGE, "Too large"))
        assert judge(exchange, ANYTHING, NOW).error == "response_too_large"


class TestStatus:
    @pytest.mark.parametrize(
        ("status_code", "patterns"),
        [
            (204, ["204"]),
            (200, ["2xx"]),
            (299, ["2xx"]),
            (200, ["200-299"]),
            (299, ["200-299"]),
            (250, ["299-200"]),
            (404, ["2xx", "404"]),
            (503, ["404", "500-503", "2xx"]),
            (418, ["418-418"]),
        ],
    )
    def test_that_fits_any_pattern_is_up(self, status_code: int, patterns: list[str]) -> None:
        assert judge_status(status_code, *patterns) == Finding(Outcome.UP, status_code=status_code)

    @pytest.mark.parametrize(
        ("status_code", "patterns"),
        [
            (200, ["204"]),
            (199, ["2xx"]),
            (300, ["2xx"]),
            (199, ["200-299"]),
            (300, ["200-299"]),
            (403, ["2xx", "404"]),
        ],
    )
    def test_that_fits_no_pattern_is_down(self, status_code: int, patterns: list[str]) -> None:
        finding = judge_status(status_code, *patterns)
        assert (finding.outcome, finding.error) == (Outcome.DOWN, "unexpected_status")

    @pytest.mark.parametrize(
        ("patterns", "message"),
        [
            (["2xx"], "Answered 503 instead of 2xx"),
            (["204", "2xx"], "Answered 503 instead of 204 or 2xx"),
            (["204", "300-302", "404"], "Answered 503 instead of 204, 300-302 or 404"),
        ],
    )
    def test_is_told_with_what_was_expected(self, patterns: list[str], message: str) -> None:
        assert judge_status(503, *patterns).message == message


class TestKeyword:
    def test_that_is_required_must_be_there(self) -> None:
        expectation = replace(ANYTHING, required_keyword="shop")
        missing = judge(PLAIN_ANSWER, expectation, NOW)
        assert (missing.outcome, missing.error) == (Outcome.DOWN, "keyword_missing")
        assert judge(PLAIN_ANSWER, expectation, NOW, {"shop"}).outcome is Outcome.UP

    def test_that_is_forbidden_must_not_be_there(self) -> None:
        expectation = replace(ANYTHING, forbidden_keyword="error")
        forbidden = judge(PLAIN_ANSWER, expectation, NOW, {"error"})
        assert (forbidden.outcome, forbidden.error) == (Outcome.DOWN, "keyword_forbidden")
        assert judge(PLAIN_ANSWER, expectation, NOW).outcome is Outcome.UP

    @pytest.mark.parametrize(
        ("keyword", "named"),
        [
            ("sold out", '"sold out"'),
            ("two\r\nlines\x00", '"two  lines "'),
            ("k" * 100, f'"{"k" * 100}"'),
            ("k" * 101, f'"{"k" * 99}…"'),
        ],
    )
    def test_is_named_in_one_line_and_shortened(self, keyword: str, named: str) -> None:
        missing = judge(PLAIN_ANSWER, replace(ANYTHING, required_keyword=keyword), NOW)
        found = judge(PLAIN_ANSWER, replace(ANYTHING, forbidden_keyword=keyword), NOW, {keyword})
        assert missing.message == f"The answer does not contain {named}"
        assert found.message == f"The answer contains {named}"


class TestCertificate:
    @pytest.mark.parametrize("expires_in", [14 * DAY, 9 * DAY, timedelta(hours=1), timedelta(0), -DAY])
    def test_that_expires_within_the_warning_is_degraded(self, expires_in: timedelta) -> None:
        finding = judge_expiry(expires_in, 14)
        assert (finding.outcome, finding.error) == (Outcome.DEGRADED, "tls_expiring")

    @pytest.mark.parametrize(
        ("expires_in", "warning_days"),
        [(14 * DAY + timedelta(seconds=1), 14), (None, 14), (DAY, 0), (-DAY, 0)],
    )
    def test_that_expires_later_or_is_not_watched_is_up(
        self, expires_in: timedelta | None, warning_days: int
    ) -> None:
        finding = judge_expiry(expires_in, warning_days)
        assert (finding.outcome, finding.error, finding.message) == (Outcome.UP, None, None)

    @pytest.mark.parametrize(
        ("expires_in", "message"),
        [
            (9 * DAY + timedelta(hours=23), "The certificate expires in 9 days"),
            (DAY, "The certificate expires in 1 day"),
            (timedelta(hours=23), "The certificate expires in less than a day"),
            (timedelta(0), "The certificate expired on 2026-11-20"),
            (-20 * DAY, "The certificate expired on 2026-10-31"),
        ],
    )
    def test_is_told_with_the_whole_days_it_has_left(self, expires_in: timedelta, message: str) -> None:
        assert judge_expiry(expires_in, 14).message == message


class TestSlowness:
    @pytest.mark.parametrize(
        ("total_ms", "slow_threshold_ms"), [(999.9, 1000), (1000.4, 1000), (86_400_000, None)]
    )
    def test_up_to_the_threshold_or_without_one_is_up(
        self, total_ms: float, slow_threshold_ms: int | None
    ) -> None:
        timings = Timings(total_ms=total_ms)
        up = Finding(Outcome.UP, status_code=200, timings=timings)
        assert judge_slowness(total_ms, slow_threshold_ms) == up

    def test_above_the_threshold_is_degraded(self) -> None:
        message = "Answered in 2,140 ms, slower than 1,000 ms"
        assert judge_slowness(2140.4, 1000)[:3] == (Outcome.DEGRADED, "slow", message)

    @given(st.floats(0, 90_000), st.integers(1, 60_000))
    def test_is_never_told_of_equal_numbers(self, total_ms: float, slow_threshold_ms: int) -> None:
        message = judge_slowness(total_ms, slow_threshold_ms).message
        if message:
            answered, threshold = message.removeprefix("Answered in ").split(" ms, slower than ")
            assert answered != threshold.removesuffix(" ms")


class TestFinding:
    def test_names_the_gravest_of_several_objections(self) -> None:
        exchange = Exchange(
            status_code=503,
            timings=Timings(total_ms=2000),
            tls_expires_at=NOW + DAY,
            failure=Failure(FailureCode.TIMEOUT, "No answer"),
        )
        expectation = Expectation(
            expected_status_codes=("2xx",),
            required_keyword="welcome",
            forbidden_keyword="sold out",
            tls_expiry_warning_days=14,
            slow_threshold_ms=1000,
        )
        errors, found = [], {"sold out"}
        for heal, to_find in (
            ({"failure": None}, found),
            ({"status_code": 200}, found),
            ({}, {"welcome", "sold out"}),
            ({}, {"welcome"}),
            ({"tls_expires_at": None}, {"welcome"}),
            ({"timings": Timings(total_ms=1000)}, {"welcome"}),
        ):
            errors.append(judge(exchange, expectation, NOW, found).error)
            exchange, found = exchange._replace(**heal), to_find
        assert errors == [
            "timeout",
            "unexpected_status",
            "keyword_missing",
            "keyword_forbidden",
            "tls_expiring",
            "slow",
        ]
        up = Finding(Outcome.UP, status_code=200, timings=Timings(total_ms=1000))
        assert judge(exchange, expectation, NOW, found) == up

    @given(
        st.lists(st.sampled_from(["100-599", "2xx"]), min_size=1, max_size=10),
        st.text(max_size=255),
        st.sampled_from([b"", b"secret"]),
    )
    def test_message_fits_into_200_characters_and_quotes_no_body(
        self, patterns: list[str], keyword: str, body: bytes
    ) -> None:
        expectation = replace(
            ANYTHING, expected_status_codes=tuple(patterns), required_keyword=f"{keyword}\N{SNOWMAN}"
        )
        for status_code in (200, 600):
            message = judge(Exchange(status_code=status_code, body=body), expectation, NOW).message
            assert message
            assert len(message) <= 200
            assert message.isprintable()
            assert "secret" not in message


class TestEndpoint:
    @pytest.mark.parametrize(
        ("url", "host", "port"),
        [
            ("http://Shop.example.com/a", "shop.example.com", 80),
            ("https://shop.example.com", "shop.example.com", 443),
            ("https://shop.example.com:8443/", "shop.example.com", 8443),
            ("http://bücher.example/", "xn--bcher-kva.example", 80),
            ("http://[2001:DB8::0007]/", "2001:db8::7", 80),
        ],
    )
    def test_is_host_and_port_in_one_spelling(self, url: str, host: str, port: int) -> None:
        endpoint = probe_of(url).endpoint
        assert endpoint
        assert (endpoint.host, endpoint.port) == (host, port)

    @pytest.mark.parametrize("url", UNREADABLE)
    def test_of_what_cannot_be_read_is_none(self, url: str) -> None:
        assert probe_of(url).endpoint is None

    @pytest.mark.anyio
    @pytest.mark.parametrize("url", UNREADABLE)
    async def test_that_is_none_is_connected_to_by_nobody(
        self, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delattr("monitoring.outbound.dialer.Call.connect")
        async with open_dialer(allowed_networks=("0.0.0.0/0", "::/0")) as dialer:
            finding = await probe_of(url).ask(dialer)
        assert (finding.outcome, finding.error) == (Outcome.DOWN, "blocked_address")
        assert finding.timings == Timings()
