from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis.strategies import builds, integers, none, sampled_from

from checks.rounds import HOUR, MINUTE, NOON, SECOND
from monitoring.checks.probes.heartbeat import LOOK_AGAIN, Known, judge
from monitoring.monitors.health import Outcome
from monitoring.monitors.heartbeats.reception import LONGEST_SILENCE
from monitoring.monitors.heartbeats.schedules import Schedule

if TYPE_CHECKING:
    from monitoring.checks.probes.protocol import Finding

HOURLY = Schedule(HOUR, None, UTC, 5 * MINUTE)
DEADLINE = NOON + HOUR + 5 * MINUTE

NEVER_PINGED = Known(None, None, None, None, None, False, False, None, None, None)  # noqa: FBT003


def after_success(**changes: Any) -> Known:
    """Say that a job ended well at noon, and that pings can be received until long after."""
    known = NEVER_PINGED._replace(
        counted_from=NOON, ended_at=NOON, ended_with="success", received_until=NOON + 10_000 * HOUR
    )
    return known._replace(**changes)


def outcome(known: Known, now: datetime) -> tuple[str, datetime | None]:
    finding = judge(HOURLY, known, now)
    return str(finding.outcome), finding.holds_until


def fault(known: Known, now: datetime, schedule: Schedule = HOURLY) -> tuple[Any, str | None]:
    finding = judge(schedule, known, now)
    assert finding.outcome == Outcome.DOWN
    return finding.error, finding.message


class TestJudge:
    def test_a_job_is_up_until_its_next_ping_is_late(self) -> None:
        assert outcome(after_success(), DEADLINE - SECOND) == ("up", DEADLINE)

    def test_a_ping_that_is_late_is_told_with_when_the_last_one_came(self) -> None:
        told = "The last ping came at 2026-11-20 12:00:00 UTC; one was expected at 2026-11-20 13:00:00 UTC"
        assert fault(after_success(), DEADLINE) == (
            "ping_missing",
            f"{told} and did not come within 5 minutes",
        )

    def test_a_job_that_is_late_is_looked_at_again_when_the_ping_after_it_is_late(self) -> None:
        assert outcome(after_success(), DEADLINE) == ("down", DEADLINE + HOUR + 5 * MINUTE)

    def test_a_run_that_does_not_end_within_the_grace_time_is_told(self) -> None:
        started = after_success(started_at=NOON + 10 * MINUTE)
        assert outcome(started, NOON + 14 * MINUTE) == ("up", NOON + 15 * MINUTE)
        told = "The job started at 2026-11-20 12:10:00 UTC and did not report its end within 5 minutes"
        assert fault(started, NOON + 15 * MINUTE) == ("job_unfinished", told)

    def test_a_run_that_begins_late_ends_no_later_than_without_a_start(self) -> None:
        started = after_success(started_at=DEADLINE - SECOND)
        assert fault(started, DEADLINE)[0] == "ping_missing"

    def test_a_first_run_must_end_too(self) -> None:
        started = after_success(counted_from=None, ended_at=None, started_at=NOON)
        assert outcome(started, NOON + 4 * MINUTE) == ("up", NOON + 5 * MINUTE)
        assert fault(started, NOON + 5 * MINUTE)[0] == "job_unfinished"

    def test_a_failure_is_repeated_until_the_next_ping_is_late(self) -> None:
        failed = after_success(ended_with="fail", is_down=True)
        assert fault(failed, NOON + MINUTE) == ("job_failed", "The job reported a failure")
        assert fault(failed._replace(exit_code=3), NOON + MINUTE) == (
            "job_failed",
            "The job ended with exit code 3",
        )
        assert fault(failed, DEADLINE)[0] == "ping_missing"

    def test_a_failure_from_before_a_pause_is_not_held_against_the_job(self) -> None:
        resumed = after_success(ended_with="fail", counted_from=NOON + 2 * HOUR)
        assert outcome(resumed, NOON + 3 * HOUR)[0] == "up"

    def test_a_longer_grace_time_makes_a_job_up_again(self) -> None:
        patient = HOURLY._replace(grace=2 * HOUR)
        assert judge(patient, after_success(is_down=True), DEADLINE).outcome == Outcome.UP

    @pytest.mark.parametrize(
        ("grace", "words"),
        [(30, "30 seconds"), (60, "1 minute"), (90, "90 seconds"), (7200, "2 hours"), (86400, "1 day")],
    )
    def test_the_grace_time_is_told_in_words(self, grace: int, words: str) -> None:
        schedule = HOURLY._replace(grace=grace * SECOND)
        message = fault(after_success(), NOON + 100 * HOUR, schedule)[1]
        assert message
        assert message.endswith(f"within {words}")

    def test_sentences_fit_their_column(self) -> None:
        schedule = HOURLY._replace(grace=31_535_999 * SECOND)
        assert len(fault(after_success(), NOON + 9000 * HOUR, schedule)[1] or "") <= 255


class TestWhatIsNoFaultOfTheJob:
    @pytest.mark.parametrize("received_until", [None, DEADLINE - LONGEST_SILENCE - SECOND])
    def test_while_pings_cannot_be_received_nothing_is_known(self, received_until: datetime | None) -> None:
        assert outcome(after_success(received_until=received_until), DEADLINE) == (
            "unknown",
            DEADLINE + LOOK_AGAIN,
        )

    @pytest.mark.parametrize("minutes", [-9, 0, 4])
    def test_a_ping_that_may_have_been_lost_with_us_is_not_missed(self, minutes: int) -> None:
        end = NOON + HOUR + minutes * MINUTE
        interrupted = after_success(interrupted_until=end)
        excused_until = end + HOUR + 5 * MINUTE
        now = max(DEADLINE, end)
        if minutes < -5:
            assert outcome(interrupted, now)[0] == "down"
        else:
            assert outcome(interrupted, now) == ("unknown", excused_until)
            assert outcome(interrupted._replace(is_blind=True), excused_until)[0] == "down"

    def test_an_interruption_while_no_ping_was_expected_excuses_nothing(self) -> None:
        assert outcome(after_success(interrupted_until=NOON + 30 * MINUTE), DEADLINE)[0] == "down"

    def test_the_end_of_a_run_may_have_been_lost_too(self) -> None:
        started = after_success(started_at=NOON + 10 * MINUTE, interrupted_until=NOON + 12 * MINUTE)
        assert outcome(started, NOON + 15 * MINUTE) == ("unknown", NOON + 77 * MINUTE)

    def test_a_ping_that_was_due_in_maintenance_is_not_missed(self) -> None:
        maintained = after_success(maintenance_until=DEADLINE)
        assert outcome(maintained, DEADLINE) == ("up", DEADLINE + HOUR + 5 * MINUTE)
        assert outcome(maintained._replace(is_blind=True), DEADLINE)[0] == "unknown"

    def test_maintenance_that_goes_on_is_no_excuse_yet(self) -> None:
        assert outcome(after_success(maintenance_until=DEADLINE + HOUR), DEADLINE)[0] == "down"

    @pytest.mark.parametrize("excuse", ["interrupted_until", "maintenance_until"])
    def test_a_job_that_was_down_before_stays_down(self, excuse: str) -> None:
        known = after_success(**{"is_down": True, excuse: DEADLINE})
        assert outcome(known, DEADLINE + MINUTE)[0] == "down"

    def test_a_clock_that_was_ahead_delays_no_alarm_beyond_one_more_period(self) -> None:
        ahead = after_success(counted_from=NOON + 1000 * HOUR)
        assert outcome(ahead, NOON) == ("up", DEADLINE)

    def test_who_never_pinged_is_not_accused(self) -> None:
        assert outcome(NEVER_PINGED, NOON) == ("unknown", NOON + LOOK_AGAIN)


moments = builds(lambda seconds: NOON + timedelta(seconds=seconds), integers(-200_000, 200_000))


@given(
    builds(
        Known,
        none() | moments,
        none() | moments,
        sampled_from([None, "success", "fail"]),
        sampled_from([None, 0, 1]),
        none() | moments,
        sampled_from([False, True]),
        sampled_from([False, True]),
        none() | moments,
        none() | moments,
        none() | moments,
    )
)
def test_every_finding_leads_to_a_later_look_and_says_what_is_wrong(known: Known) -> None:
    finding: Finding = judge(HOURLY, known, NOON)
    assert finding.holds_until
    assert finding.holds_until > NOON
    assert (finding.error is not None) == (finding.outcome == Outcome.DOWN)
    assert (finding.message is None) == (finding.outcome == Outcome.UP) or finding.outcome == Outcome.UNKNOWN
