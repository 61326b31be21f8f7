"""A claim is a lease on a monitor: the right to check it once.

A result is stored only if its claim still holds. If a checker dies, its claims expire with their leases.
Pausing a monitor revokes the claim.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID, uuid4

import orjson

from monitoring.checks import queries
from monitoring.checks.probes import registry
from monitoring.checks.probes.protocol import Probe
from monitoring.checks.queries import SETTINGS
from monitoring.monitors.health import GRACE, Health, State
from monitoring.monitors.warnings import Warnings
from monitoring.notifications.monitor_subjects import KnownMonitor

# A lease lasts for the check's timeout plus this margin. The margin is for waiting in the queue, finding out
# whether this service is offline, and storing the result.
LEASE_MARGIN = timedelta(seconds=15)

# Parsed settings are cached, because each monitor is checked again and again. The first limit is how many
# monitors' settings are cached, which takes about two kilobytes for each monitor. Settings with more bytes of
# text than the second limit are not cached.
_MAX_REMEMBERED = 16_384
_MAX_REMEMBERED_BYTES = 1024

# The interval of all monitors in a sandbox that is in use. It is short, so that tests need not wait long.
SANDBOX_INTERVAL_SECONDS = 5

_MICROSECOND = timedelta(microseconds=1)

_STATES = {str(state): state for state in State}

# The fields of `Claimed` that are parsed from a monitor's settings: from `subject` to `is_sandbox`.
_Read: TypeAlias = "tuple[KnownMonitor, Probe, int, int, int, int, int, bool]"


class Claimed(NamedTuple):
    """The right to check a monitor until the lease ends, and the monitor as it was when claimed.

    `planned_at` is when this check was due, and `last_checked_at` is when the previous check was made.
    `is_misdated` means that a wrong clock set the due time too far ahead. In a sandbox that is in use, the
    interval and the retry interval are SANDBOX_INTERVAL_SECONDS.
    """

    claim: UUID
    lease_ends_at: datetime
    planned_at: datetime
    last_checked_at: datetime | None
    maintenance_from: datetime | None
    maintenance_until: datetime | None
    warnings: Warnings
    health: Health
    status: str
    subject: KnownMonitor
    probe: Probe
    timeout_seconds: int
    interval_seconds: int
    failure_threshold: int
    recovery_threshold: int
    retry_interval_seconds: int
    is_sandbox: bool = False
    is_misdated: bool = False

    @property
    def monitor_id(self) -> UUID:
        """The monitor's id."""
        return self.subject.id

    def is_in_maintenance(self, moment: datetime) -> bool:
        """Return whether the monitor is in maintenance at a moment."""
        starts_at, ends_at = self.maintenance_from, self.maintenance_until
        return starts_at is not None and ends_at is not None and starts_at <= moment < ends_at

    def date(self, checked_at: datetime) -> datetime:
        """Return the time to record for a check, which must be later than that of the previous check.

        The returned time is usually `checked_at`. If the previous check has a later time than `checked_at`,
        because a clock was ahead, the returned time is just after the previous check. A previous check that
        is later than `checked_at` by more than `GRACE` is ignored.
        """
        if self.last_checked_at and self.last_checked_at <= checked_at + GRACE:
            return max(checked_at, self.last_checked_at + _MICROSECOND)
        return checked_at

    def until(self, ends_at: datetime, checked_at: datetime) -> Claimed:
        """Return a copy of this claim for a finding that needs no confirmation and holds until `ends_at`."""
        seconds = math.ceil((ends_at - checked_at).total_seconds())
        return self._replace(interval_seconds=seconds, failure_threshold=1, recovery_threshold=1)


class _Memory:
    """A monitor's settings when the monitor was last claimed, and the result of parsing these settings."""

    last: tuple[tuple[Any, ...], _Read] | None = None


async def claim_due(now: datetime, limit: int) -> list[Claimed]:
    """Claim up to `limit` due monitors, those waiting longest first.

    Concurrent checkers never claim the same monitor. Raises `DatabaseUnavailable`.
    """
    return await _claim(now, limit)


async def claim_misdated(now: datetime, limit: int) -> list[Claimed]:
    """Claim up to `limit` monitors whose due time lies further ahead than their interval allows.

    Such a due time was set by a machine whose clock was ahead. The search scans every monitor with a long
    interval, so it should run rarely. Raises `DatabaseUnavailable`.
    """
    claimed = await _claim(now, limit, is_misdated=True)
    return [each._replace(is_misdated=True) for each in claimed]


async def claim_for_ping(monitor_id: UUID, now: datetime) -> Claimed | None:
    """Claim a monitor for the result of a ping, even if the monitor is not due. Return None if it is paused.

    The result of a check in progress is dropped. Runs in the caller's transaction, and locks the check state.
    """
    claim = uuid4()
    rows = await queries.claim_one(claim, now, monitor_id, LEASE_MARGIN)
    return _read_claimed(rows[0], claim) if rows else None


async def give_back(claimed: Iterable[Claimed], due_at: datetime) -> None:
    """Release monitors that were claimed but not checked, and make them due at `due_at`.

    A monitor whose claim no longer holds is left unchanged.
    """
    rows = [{"monitor_id": each.monitor_id, "claim": each.claim, "due_at": due_at} for each in claimed]
    if rows:
        await queries.give_back(rows)


async def _claim(now: datetime, limit: int, *, is_misdated: bool = False) -> list[Claimed]:
    claim = uuid4()
    rows = await queries.claim(claim, now, limit, LEASE_MARGIN, is_misdated=is_misdated)
    return sorted((_read_claimed(row, claim) for row in rows), key=lambda claimed: claimed.planned_at)


def _read_claimed(row: tuple[Any, ...], claim: UUID) -> Claimed:
    *of_check_state, status = row[: -len(SETTINGS)]
    due_at, next_check_at, last_checked_at, begins_at, ends_at = of_check_state[:5]
    settled, *others = of_check_state[-len(Health._fields) :]
    return Claimed(
        claim,
        due_at,
        next_check_at or due_at,
        last_checked_at,
        begins_at,
        ends_at,
        Warnings(*of_check_state[5 : -len(Health._fields)]),
        Health(_STATES[settled], *others),
        status,
        *_recall_settings(row[-len(SETTINGS) :]),
    )


def _recall_settings(settings: tuple[Any, ...]) -> _Read:
    """Parse a monitor's settings, or return the cached result if the settings have not changed."""
    memory = _memory_of(settings[0])
    if memory.last and memory.last[0] == settings:
        return memory.last[1]
    read = _read_settings(settings)
    size = sum(len(value.encode()) for value in settings if isinstance(value, str))
    memory.last = (settings, read) if size <= _MAX_REMEMBERED_BYTES else None
    return read


@lru_cache(_MAX_REMEMBERED)
def _memory_of(_monitor_id: UUID) -> _Memory:
    return _Memory()


def _read_settings(settings: tuple[Any, ...]) -> _Read:
    row = dict(zip(SETTINGS, settings, strict=True))
    intervals = row["interval_seconds"], row["retry_interval_seconds"]
    if row["is_sandbox_in_use"]:
        intervals = SANDBOX_INTERVAL_SECONDS, SANDBOX_INTERVAL_SECONDS
    interval_seconds, retry_interval_seconds = intervals
    return (
        KnownMonitor(row["id"], row["team_id"], row["name"], row["url"], orjson.loads(row["tags"])),
        registry.read_probe(row),
        row["timeout_seconds"],
        interval_seconds,
        row["failure_threshold"],
        row["recovery_threshold"],
        retry_interval_seconds,
        bool(row["is_sandbox"]),
    )
