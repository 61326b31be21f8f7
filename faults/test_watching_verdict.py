"""The verdict on checks can go against the service: it names everything that is damaged, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from watching_verdict import LONGEST_WAIT_SECONDS, Page, Span, Watched, judge_watching, merge

NOON = 1_795_176_000.0

MONITOR_ID = UUID("019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70")
INCIDENT_ID = UUID("019a9c41-0c2e-7f55-8a3b-6d1f9e4b7a12")


def at(second: float) -> datetime:
    return datetime.fromtimestamp(NOON + second, UTC)


PAGE = Page(
    "/unsteady-0",
    str(MONITOR_ID),
    created_at=NOON - 20,
    asked_at=[NOON + second for second in range(0, 160, 20)],
    turned_at=[NOON + 50, NOON + 90],
)
INCIDENT = {
    "id": INCIDENT_ID,
    "monitor_id": MONITOR_ID,
    "started_at": at(60),
    "confirmed_at": at(70),
    "resolved_at": at(100),
    "error": "unexpected_status",
}
WATCHED = Watched({MONITOR_ID: 8}, [INCIDENT], [])


def judge(
    watched: Watched = WATCHED,
    page: Page = PAGE,
    blocked: tuple[Span, ...] = (),
) -> list[str]:
    return list(judge_watching([page], watched, blocked))


def change_incident(**columns: Any) -> Watched:
    return replace(WATCHED, incidents=[INCIDENT | columns])


SPOILT = {
    "a check stored twice": (
        replace(WATCHED, check_counts={MONITOR_ID: 9}),
        "/unsteady-0: 9 checks are stored of 8 requests",
    ),
    "an incident of our own outage": (
        change_incident(started_at=at(10)),
        "/unsteady-0: has an incident that began when it was up (unexpected_status)",
    ),
    "two incidents of one outage": (
        replace(WATCHED, incidents=[INCIDENT, INCIDENT | {"id": MONITOR_ID}]),
        "/unsteady-0: has 2 incidents of one outage",
    ),
    "an incident that does not end": (
        change_incident(resolved_at=None),
        "/unsteady-0: has an incident that is still open",
    ),
    "a recovery that was none": (
        change_incident(resolved_at=at(80)),
        "/unsteady-0: has an incident that was resolved while it was down",
    ),
    "no incident": (
        replace(WATCHED, incidents=[]),
        "no incident was opened at all, so this run shows nothing about them",
    ),
}


def test_what_was_promised_and_kept_is_no_violation() -> None:
    assert judge() == []


def test_a_check_that_began_while_the_page_was_up_and_asked_when_it_was_down_is_no_violation() -> None:
    assert judge(change_incident(started_at=at(45))) == []


def test_a_check_that_began_before_the_page_was_up_and_found_it_up_is_no_violation() -> None:
    assert judge(change_incident(resolved_at=at(89))) == []


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_spoilt_is_named(what: str) -> None:
    watched, sentence = SPOILT[what]
    assert sentence in judge(watched)


def test_a_long_wait_is_named_unless_nobody_could_check() -> None:
    page = replace(PAGE, asked_at=[*PAGE.asked_at, NOON + 140 + LONGEST_WAIT_SECONDS + 10])
    assert judge(page=page) == ["/unsteady-0: was not checked for 85 s in which somebody could"]
    assert judge(page=page, blocked=((NOON + 150, NOON + 155),)) != []
    assert judge(page=page, blocked=((NOON + 150, NOON + 165),)) == []


def test_a_check_of_a_page_that_was_never_asked_for_is_named() -> None:
    page = replace(PAGE, asked_at=[], turned_at=[])
    watched = Watched({MONITOR_ID: 1}, [], [])
    assert "/unsteady-0: 1 checks are stored of 0 requests" in judge(watched, page)


def test_the_first_wait_begins_when_the_monitor_was_created() -> None:
    page = replace(PAGE, created_at=NOON - LONGEST_WAIT_SECONDS - 10)
    assert judge(page=page) == ["/unsteady-0: was not checked for 85 s in which somebody could"]


def test_times_that_overlap_count_once() -> None:
    assert merge([(5, 6), (1, 3), (2, 4)]) == [(1, 4), (5, 6)]
