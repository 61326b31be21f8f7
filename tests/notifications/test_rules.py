from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.contract.problems import Problem
from monitoring.notifications.models import DeliveryStatus
from monitoring.notifications.rules import MAX_ATTEMPTS, change, check, complete, judge_attempt, wait_after
from monitoring.outbound.exchanges import Exchange, Failure, FailureCode

DEFAULTS = {"events": ["incident.opened", "incident.resolved"], "enabled": True}
PAGER = {"name": "Pager", "url": "https://pager.example.com/hooks", **DEFAULTS}
BLOCKED = Failure(FailureCode.BLOCKED_ADDRESS, "Not there")


class TestWait:
    @pytest.mark.parametrize(
        ("attempts", "wait"),
        [
            (1, timedelta(seconds=5)),
            (2, timedelta(minutes=5)),
            (3, timedelta(minutes=30)),
            (4, timedelta(hours=2)),
            (5, timedelta(hours=5)),
            (6, timedelta(hours=10)),
            (7, timedelta(hours=10)),
            (8, None),
        ],
    )
    def test_grows_until_the_eighth_attempt_was_the_last(self, attempts: int, wait: timedelta | None) -> None:
        assert wait_after(attempts, chance=0) == wait

    @given(st.integers(1, MAX_ATTEMPTS - 1), st.floats(0, 1))
    def test_is_by_chance_up_to_a_tenth_longer_and_never_shorter(self, attempts: int, chance: float) -> None:
        shortest, wait = wait_after(attempts, 0), wait_after(attempts, chance)
        assert shortest
        assert wait
        assert shortest <= wait <= shortest * 1.1

    def test_depends_on_chance(self) -> None:
        assert wait_after(1, chance=1) == timedelta(seconds=5.5)


class TestAttempt:
    @pytest.mark.parametrize("status_code", [200, 202, 204, 299])
    def test_that_was_answered_2xx_has_delivered(self, status_code: int) -> None:
        verdict = judge_attempt(Exchange(status_code=status_code), 1, chance=0)
        assert (verdict.status, verdict.status_code) == (DeliveryStatus.DELIVERED, status_code)
        assert (verdict.error_message, verdict.wait, verdict.outcome) == (None, None, "delivered")

    @pytest.mark.parametrize("status_code", [100, 199, 300, 302, 304, 400, 404, 429, 500, 503, 999])
    def test_that_was_answered_otherwise_is_made_again(self, status_code: int) -> None:
        verdict = judge_attempt(Exchange(status_code=status_code), 2, chance=0)
        assert (verdict.status, verdict.status_code) == (DeliveryStatus.PENDING, status_code)
        assert (verdict.error_message, verdict.wait) == (f"Answered {status_code}", timedelta(minutes=5))
        assert (verdict.outcome, verdict.is_unwelcome) == ("retried", False)

    def test_that_failed_is_made_again_and_says_why(self) -> None:
        verdict = judge_attempt(Exchange(failure=BLOCKED), 1, chance=0)
        assert (verdict.status, verdict.status_code) == (DeliveryStatus.PENDING, None)
        assert (verdict.error_message, verdict.wait) == ("Not there", timedelta(seconds=5))

    @pytest.mark.parametrize("exchange", [Exchange(status_code=500), Exchange(failure=BLOCKED)])
    def test_is_the_last_one_when_it_is_the_eighth(self, exchange: Exchange) -> None:
        verdict = judge_attempt(exchange, MAX_ATTEMPTS, chance=0)
        assert (verdict.status, verdict.wait, verdict.outcome) == (DeliveryStatus.FAILED, None, "failed")
        assert verdict.error_message

    def test_that_was_answered_410_is_the_last_one_and_unwelcome(self) -> None:
        verdict = judge_attempt(Exchange(status_code=410), 1, chance=0)
        assert (verdict.status, verdict.wait, verdict.is_unwelcome) == (DeliveryStatus.FAILED, None, True)
        assert (verdict.status_code, verdict.error_message) == (410, "Answered 410")


class TestConfiguration:
    @pytest.mark.parametrize(
        ("url", "name"),
        [
            ("https://pager.example.com/hooks", "pager.example.com"),
            ("https://[2001:db8::7]:8443/", "2001:db8::7"),
            (f"https://{'a' * 63}.{'b' * 63}.example", f"{'a' * 63}.{'b' * 36}"),
        ],
    )
    def test_is_named_like_its_host_cut_to_100_characters(self, url: str, name: str) -> None:
        assert complete({"url": url}, DEFAULTS) == {"name": name, "url": url, **DEFAULTS}

    @pytest.mark.parametrize(
        ("patch", "changes"),
        [
            ({"name": "Phone"}, {"name": "Phone"}),
            ({"name": None}, {"name": "pager.example.com"}),
            ({"name": None, "url": "https://phone.example.com"}, {"name": "phone.example.com"}),
            ({"url": "https://phone.example.com"}, {"name": "Pager"}),
            ({"events": ["incident.opened"]}, {"events": ["incident.opened"]}),
            ({"events": None}, {"events": DEFAULTS["events"]}),
            ({"enabled": False}, {"enabled": False}),
            ({"enabled": None}, {"enabled": True}),
        ],
    )
    def test_changes_as_a_merge_patch_says(self, patch: dict[str, Any], changes: dict[str, Any]) -> None:
        changed = change(PAGER, patch, DEFAULTS)
        assert changed == {**PAGER, "url": patch.get("url", PAGER["url"]), **changes}

    @pytest.mark.parametrize("host", ["127.1", "0x7f000001", "2130706433", "example.1"])
    def test_needs_a_host_that_is_a_name_or_an_address(self, host: str) -> None:
        with pytest.raises(Problem, match="url_host_invalid"):
            check({"url": f"http://{host}/"})
