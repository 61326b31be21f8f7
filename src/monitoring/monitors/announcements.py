"""Announces a monitor's warnings to channels: that it is degraded, or that its certificate expires soon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from monitoring.contract.document import Json
from monitoring.contract.timestamps import write_timestamp
from monitoring.monitors.warnings import Warnings, is_certificate_to_tell
from monitoring.notifications.announcing import announce
from monitoring.notifications.monitor_subjects import MonitorSubject, describe_monitor
from monitoring.notifications.routing import Announcement


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """A monitor's warnings before and after a check.

    If the monitor is degraded, `message` says why.
    """

    monitor: MonitorSubject
    before: Warnings
    after: Warnings
    checked_at: datetime
    message: str | None
    certificate_expires_at: datetime | None


async def announce_warnings(warned: Sequence[Warned]) -> list[UUID]:
    """Store notifications of new and ended warnings in the caller's transaction.

    Return the ids of the deliveries to send after the commit, with `nudge`.
    """
    announcements = [announcement for each in warned for announcement in _announcements_of(each)]
    return await announce(announcements) if announcements else []


def _announcements_of(warned: Warned) -> Iterator[Announcement]:
    if is_certificate_to_tell(warned.before, warned.after):
        assert warned.certificate_expires_at  # noqa: S101 - the days were counted from it
        certificate = {
            "expires_at": write_timestamp(warned.certificate_expires_at),
            "expires_in_days": warned.after.certificate_told_days,
        }
        yield _announcement(warned, "certificate.expiring", {"certificate": certificate})
    if warned.after.is_degradation_told and not warned.before.is_degradation_told:
        yield _announcement(warned, "monitor.degraded", {"degradation": {"message": warned.message}})
    if warned.before.is_degradation_told and not warned.after.is_degradation_told:
        yield _announcement(warned, "monitor.recovered", {})


def _announcement(warned: Warned, event: str, subject: dict[str, Json]) -> Announcement:
    monitor = warned.monitor
    return Announcement(
        team_id=monitor.team_id,
        event=event,
        happened_at=warned.checked_at,
        subject={"monitor": describe_monitor(monitor), **subject},
        subject_id=monitor.id,
        monitor_id=monitor.id,
        tags=monitor.tags,
    )
