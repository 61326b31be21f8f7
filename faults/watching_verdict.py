"""Compares what was stored of checks with what a site knows. Pure; each difference is a sentence."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from uuid import UUID

# An interval of 30 s, a lease of 20 s (the timeout of 5 s and 15 s more), and slack for a busy machine.
LONGEST_WAIT_SECONDS = 30 + 20 + 25

Span = tuple[float, float]


@dataclass
class Page:
    """A page of the site: since when it is watched, when it was asked for, and when it was down.

    Moments are in seconds since 1970.
    """

    path: str
    monitor_id: str = ""
    created_at: float = 0.0  # its monitor, from which on somebody should ask
    asked_at: list[float] = field(default_factory=list)
    turned_at: list[float] = field(default_factory=list)  # down, up, down ...
    _lock: Lock = field(default_factory=Lock, repr=False, compare=False)

    @property
    def is_down(self) -> bool:
        """Whether it answers 503 now."""
        return len(self.turned_at) % 2 == 1

    @property
    def last_asked_at(self) -> float:
        """When it was asked for last; when its monitor was created if it never was."""
        return self.asked_at[-1] if self.asked_at else self.created_at

    @property
    def downs(self) -> Sequence[Span]:
        """The times in which it was down."""
        return list(zip(self.turned_at[::2], self.turned_at[1::2], strict=False))

    def ask(self) -> bool:
        """Note a request that came now. Returns whether the page is down."""
        with self._lock:
            self.asked_at.append(time.time())
            return self.is_down

    def turn(self) -> None:
        """Go down, or come up again."""
        with self._lock:
            self.turned_at.append(time.time())


@dataclass(frozen=True)
class Watched:
    """What the service has at the end: checks by monitor, and rows of incidents and deliveries, by column."""

    check_counts: Mapping[UUID, int]
    incidents: Sequence[Mapping[str, Any]]
    deliveries: Sequence[Mapping[str, Any]]


def judge_watching(pages: Sequence[Page], watched: Watched, blocked: Sequence[Span]) -> Iterator[str]:
    """Yield a sentence for everything that breaks a promise to the team.

    Nobody could check in the spans of `blocked`.
    Moments are in seconds since 1970.
    """
    for page in pages:
        incidents = [row for row in watched.incidents if str(row["monitor_id"]) == page.monitor_id]
        stored = {str(monitor_id): number for monitor_id, number in watched.check_counts.items()}
        if stored.get(page.monitor_id, 0) > len(page.asked_at):
            yield f"{page.path}: {stored[page.monitor_id]} checks are stored of {len(page.asked_at)} requests"
        yield from _judge_waits(page, blocked)
        yield from _judge_incidents(page, incidents)
    if not watched.incidents:
        yield "no incident was opened at all, so this run shows nothing about them"


def _judge_waits(page: Page, blocked: Sequence[Span]) -> Iterator[str]:
    for before, after in pairwise([page.created_at, *page.asked_at]):
        free_seconds = after - before - sum(_overlap(span, (before, after)) for span in blocked)
        if free_seconds > LONGEST_WAIT_SECONDS:
            yield f"{page.path}: was not checked for {free_seconds:.0f} s in which somebody could"


def _judge_incidents(page: Page, incidents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    per_down: Counter[Span] = Counter()
    for incident in incidents:
        began = incident["started_at"].timestamp()
        asked = _request_after(page, began)
        down = next((span for span in page.downs if span[0] <= asked <= span[1]), None)
        if down is None:
            yield f"{page.path}: has an incident that began when it was up ({incident['error']})"
            continue
        per_down[down] += 1
        if incident["resolved_at"] is None:
            yield f"{page.path}: has an incident that is still open"
        elif incident["resolved_at"].timestamp() <= _last_answer(page, down):
            yield f"{page.path}: has an incident that was resolved while it was down"
    for number in per_down.values():
        if number > 1:
            yield f"{page.path}: has {number} incidents of one outage"


def _request_after(page: Page, began: float) -> float:
    """Return when the check that began then asked for the page. A checker may be frozen between the two."""
    return next((moment for moment in page.asked_at if moment >= began), began)


def _last_answer(page: Page, down: Span) -> float:
    """Return when the page last answered that it was down. A check may begin before the page is up again."""
    return max((moment for moment in page.asked_at if down[0] <= moment <= down[1]), default=down[0])


def merge(spans: Sequence[Span]) -> list[Span]:
    """Return the same time in spans that do not overlap."""
    merged: list[Span] = []
    for began, ended in sorted(spans):
        if merged and began <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(ended, merged[-1][1]))
        else:
            merged.append((began, ended))
    return merged


def _overlap(one: Span, other: Span) -> float:
    return max(0.0, min(one[1], other[1]) - max(one[0], other[0]))
