"""Imports monitors from other services and programs. Each has its own module, and an entry in `IMPORTERS`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from monitoring.as_code.importers import (
    better_stack,
    blackbox,
    gatus,
    healthchecks,
    uptime_kuma,
    uptime_robot,
)
from monitoring.as_code.importers.drafts import Draft

Importer = Callable[[Sequence[bytes]], Iterator[Draft]]

IMPORTERS: dict[str, Importer] = {
    "uptime-kuma": uptime_kuma.read,
    "gatus": gatus.read,
    "blackbox": blackbox.read,
    "healthchecks": healthchecks.read,
    "uptime-robot": uptime_robot.read,
    "better-stack": better_stack.read,
}
