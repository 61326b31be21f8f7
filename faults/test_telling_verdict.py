"""The verdict on messages can go against the service: it names all that is damaged, and nothing else."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from telling_verdict import Arrival, Route, judge_telling

if TYPE_CHECKING:
    from watching_verdict import Span

NOON = 1_795_176_000.0
ROUTE = Route("email late", "c1", delay_seconds=20)


def at(second: float) -> datetime:
    return datetime.fromtimestamp(NOON + second, UTC)


def event(kind: str, incident_id: str = "i1") -> dict[str, Any]:
    return {"type": kind, "data": {"incident": {"id": incident_id}}}


def row(delivery_id: str, payload: dict[str, Any], **columns: Any) -> dict[str, Any]:
    whole = {"id": delivery_id, "channel_id": "c1", "event": payload["type"], "status": "delivered"}
    return (
        whole
        | {"payload": orjson.dumps(payload).decode(), "digest_id": None, "error_message": None}
        | columns
    )


def arrival(message_id: str, second: float, *, was_taken: bool = True, content: bytes = b"") -> Arrival:
    return Arrival("email late", message_id, NOON + second, was_taken, content or message_id.encode())


INCIDENT = {"id": "i1", "confirmed_at": at(0), "resolved_at": at(60)}
OPENED, RESOLVED = row("d1", event("incident.opened")), row("d2", event("incident.resolved"))
DIGEST = row(
    "d1", {"type": "digest", "data": {"events": [event("incident.opened"), event("incident.resolved")]}}
)
PART = RESOLVED | {"digest_id": "d1"}
ARRIVALS = [arrival("d1", 21), arrival("d2", 61)]
AGAIN = [*ARRIVALS, arrival("d1", 55)]


def judge(
    rows: list[dict[str, Any]],
    arrivals: list[Arrival] = ARRIVALS,
    deaths: tuple[Span, ...] = (),
    **incident: Any,
) -> list[str]:
    return list(judge_telling([ROUTE], [INCIDENT | incident], rows, arrivals, deaths))


def test_what_was_promised_and_kept_is_no_violation() -> None:
    assert judge([OPENED, RESOLVED]) == []


def test_a_digest_tells_all_its_events() -> None:
    assert judge([DIGEST, PART], [arrival("d1", 70)]) == []


def test_what_was_over_before_the_delay_is_told_nobody() -> None:
    assert judge([OPENED | {"status": "skipped"}], [], resolved_at=at(10)) == []


def test_what_was_refused_until_its_end_was_confirmed_is_told_as_over() -> None:
    rows = [OPENED | {"status": "skipped"}, RESOLVED]
    refused = arrival("d1", 21, was_taken=False)
    assert judge(rows, [refused, arrival("d2", 26)], resolved_at=at(15)) == []


def test_what_was_refused_until_it_was_over_is_told_as_over() -> None:
    refused = arrival("d1", 21, was_taken=False)
    assert judge([OPENED | {"status": "skipped"}, RESOLVED], [refused, arrival("d2", 61)]) == []


def test_a_message_may_come_again_if_it_was_refused_or_its_worker_died() -> None:
    refused = arrival("d1", 21, was_taken=False)
    assert judge([OPENED, RESOLVED], [refused, arrival("d1", 27), arrival("d2", 61)]) == []
    assert judge([OPENED, RESOLVED], AGAIN, ((NOON + 22, NOON + 25),)) == []


SPOILT = {
    "nobody was told": (
        [RESOLVED],
        ARRIVALS[1:],
        "incident i1: incident.opened is told by 0 messages instead of 1",
    ),
    "told by two messages": (
        [OPENED, RESOLVED, OPENED | {"id": "d3"}],
        [*ARRIVALS, arrival("d3", 30)],
        "incident i1: incident.opened is told by 2 messages instead of 1",
    ),
    "an event that its digest leaves out": (
        [OPENED, PART],
        ARRIVALS[:1],
        "incident i1: incident.resolved is told by 0 messages instead of 1",
    ),
    "an event that waits for its digest for good": (
        [DIGEST, PART | {"status": "pending"}],
        ARRIVALS[:1],
        "delivery d2 of incident.resolved is still pending when all attempts are over",
    ),
    "a message that never arrived": (
        [OPENED, RESOLVED],
        ARRIVALS[1:],
        "delivery d1 of incident.opened counts as delivered and never arrived",
    ),
    "a failure that nobody sees": (
        [OPENED | {"status": "failed"}, RESOLVED],
        ARRIVALS[1:],
        "delivery d1 of incident.opened failed, and the log does not say why",
    ),
    "an id of its own at each attempt": (
        [OPENED, RESOLVED],
        [*ARRIVALS, arrival("d9", 30)],
        "message d9 is not in the delivery log",
    ),
    "another message under the same id": (
        [OPENED, RESOLVED],
        [arrival("d1", 21, was_taken=False, content=b"another"), *ARRIVALS],
        "message d1 was another one at another attempt",
    ),
    "sent again though all was well": (
        [OPENED, RESOLVED],
        AGAIN,
        "message d1 was sent again, and no worker had died",
    ),
    "told too early": (
        [OPENED, RESOLVED],
        [arrival("d1", 5), ARRIVALS[1]],
        "incident i1 was told before the delay was over",
    ),
    "skipped though it lasted, and its end too": (
        [OPENED | {"status": "skipped"}],
        [],
        "incident i1: incident.resolved is told by 0 messages instead of 1",
    ),
    "begun after it was over": (
        [OPENED, RESOLVED],
        [arrival("d2", 61), arrival("d1", 70)],
        "incident i1 was told to have begun after it was told to be over",
    ),
}


def test_what_is_skipped_before_it_is_over_is_named() -> None:
    skipped = judge([OPENED | {"status": "skipped"}], [], resolved_at=None)
    assert skipped == ["email late: incident i1 was skipped, though it is not over"]


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_spoilt_is_named(what: str) -> None:
    rows, arrivals, sentence = SPOILT[what]
    assert f"email late: {sentence}" in judge(rows, arrivals)
