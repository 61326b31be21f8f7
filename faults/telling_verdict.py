"""Compares the delivery log with what servers were sent. Pure; each difference is a sentence."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from watching_verdict import Span

OPENED, RESOLVED = "incident.opened", "incident.resolved"
OVER = ("delivered", "failed", "skipped")


@dataclass(frozen=True)
class Route:
    """A channel: where its messages arrive, and how many seconds an incident lasts before they are sent."""

    name: str
    channel_id: str
    delay_seconds: float = 0.0


class Arrival(NamedTuple):
    """One attempt as the server of a route saw it, at a moment in seconds since 1970.

    `was_taken` says that the server answered that it has the message.
    """

    route: str
    message_id: str
    at: float
    was_taken: bool
    content: bytes


def judge_telling(
    routes: Sequence[Route],
    incidents: Sequence[Mapping[str, Any]],
    deliveries: Sequence[Mapping[str, Any]],
    arrivals: Sequence[Arrival],
    deaths: Sequence[Span],
) -> Iterator[str]:
    """Yield a sentence for everything that breaks a promise to a channel, after all attempts are over.

    In the spans of `deaths` a worker was ended, so that it may have sent what it could not store.
    """
    for route in routes:
        log = {str(row["id"]): row for row in deliveries if str(row["channel_id"]) == route.channel_id}
        arrived = defaultdict(list)
        for arrival in sorted(arrivals, key=lambda each: each.at):
            if arrival.route == route.name:
                arrived[arrival.message_id].append(arrival)
        for message_id, attempts in arrived.items():
            if message_id not in log:
                yield f"{route.name}: message {message_id} is not in the delivery log"
            yield from _judge_attempts(route, message_id, attempts, deaths)
        for row in log.values():
            taken = any(each.was_taken for each in arrived[str(row["id"])])
            yield from _judge_row(route, row, log, was_taken=taken)
        for incident in incidents:
            yield from _judge_incident(route, incident, log, arrived)
            yield from _judge_order(route, incident, log, arrived, deaths)


def _judge_attempts(
    route: Route, message_id: str, attempts: Sequence[Arrival], deaths: Sequence[Span]
) -> Iterator[str]:
    if len({each.content for each in attempts}) > 1:
        yield f"{route.name}: message {message_id} was another one at another attempt"
    first = next((each for each in attempts if each.was_taken), None)
    for each in attempts:
        if first and each.at > first.at and not any(a <= each.at and first.at <= b for a, b in deaths):
            yield f"{route.name}: message {message_id} was sent again, and no worker had died"


def _judge_row(
    route: Route, row: Mapping[str, Any], log: Mapping[str, Any], *, was_taken: bool
) -> Iterator[str]:
    where = f"{route.name}: delivery {row['id']} of {row['event']}"
    if row["status"] not in OVER:
        yield f"{where} is still {row['status']} when all attempts are over"
    if row["status"] == "failed" and not row["error_message"]:
        yield f"{where} failed, and the log does not say why"
    if row["digest_id"] is not None:
        digest = log.get(str(row["digest_id"]))
        if digest is None or digest["status"] != row["status"]:
            yield f"{where} is {row['status']}, and the digest that tells it is not"
    elif row["status"] == "delivered" and not was_taken:
        yield f"{where} counts as delivered and never arrived"


def _judge_incident(
    route: Route,
    incident: Mapping[str, Any],
    log: Mapping[str, Mapping[str, Any]],
    arrived: Mapping[str, Sequence[Arrival]],
) -> Iterator[str]:
    incident_id = str(incident["id"])
    where = f"{route.name}: incident {incident_id}"
    messages = {event: _find_messages(incident_id, event, log) for event in (OPENED, RESOLVED)}
    skipped = [row for row in messages[OPENED] if row["status"] == "skipped"]
    due = incident["confirmed_at"].timestamp() + route.delay_seconds
    ended = incident["resolved_at"].timestamp() if incident["resolved_at"] else None
    if skipped and ended is None:
        yield f"{where} was skipped, though it is not over"
    # An opening that was refused until the end is skipped too, and then the end alone is told. If an incident
    # ended before the delay was over, that depends on when the end was confirmed, which is not known here.
    is_spared = bool(skipped) and ended is not None and ended < due
    allowed = {OPENED: {1}, RESOLVED: {0, 1} if is_spared else {int(ended is not None)}}
    for event, wanted in allowed.items():
        if len(messages[event]) not in wanted:
            yield f"{where}: {event} is told by {len(messages[event])} messages instead of {max(wanted)}"
    for row in messages[OPENED]:
        if any(each.at < due for each in arrived.get(str(row["id"]), ())):
            yield f"{where} was told before the delay was over"


def _judge_order(
    route: Route,
    incident: Mapping[str, Any],
    log: Mapping[str, Mapping[str, Any]],
    arrived: Mapping[str, Sequence[Arrival]],
    deaths: Sequence[Span],
) -> Iterator[str]:
    incident_id = str(incident["id"])
    openings, ends = (
        {str(row["id"]) for row in _find_messages(incident_id, event, log)} for event in (OPENED, RESOLVED)
    )
    told_over = [each.at for message_id in ends for each in arrived.get(message_id, ())]
    if not told_over:
        return
    for each in [attempt for message_id in openings - ends for attempt in arrived.get(message_id, ())]:
        if each.at > min(told_over) and not any(a <= each.at and min(told_over) <= b for a, b in deaths):
            yield f"{route.name}: incident {incident_id} was told to have begun after it was told to be over"


def _find_messages(
    incident_id: str, event: str, log: Mapping[str, Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the messages that tell an event: its own, or the digest in which it stands."""
    found = []
    for row in log.values():
        payload = orjson.loads(row["payload"])
        told = payload["data"].get("events", [payload])
        is_told = any(
            each["type"] == event and each["data"].get("incident", {}).get("id") == incident_id
            for each in told
        )
        if is_told and row["digest_id"] is None:
            found.append(row)
    return found
