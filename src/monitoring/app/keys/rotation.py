"""How far the replacement of a key has come: the state of the published interface's three steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from monitoring.auth.models import ApiKey
from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.auth.service import LAST_USED_GRAIN

_SUFFIX = " (new)"


class Step(StrEnum):
    """Where a step stands."""

    DONE = "done"
    NOW = "now"
    LATER = "later"


class Traffic(StrEnum):
    """What "last used" tells about a key. `SILENT` is certain; `BUSY` may have ended up to two hours ago."""

    NEVER = "never"
    BUSY = "busy"
    SILENT = "silent"


@dataclass(frozen=True, slots=True)
class Rotation:
    """Make a key, deploy it, revoke the old one: what is done, and what comes now."""

    make: Step
    deploy: Step
    revoke: Step


def judge_rotation(old: ApiKey, new: ApiKey | None) -> Rotation:
    """Say where each step stands. The first that is not done is `NOW`, the others are `LATER`."""
    done = [new is not None, new is not None and new.last_used_at is not None, old.revoked_at is not None]
    first = done.index(False) if False in done else len(done)
    return Rotation(
        *(
            Step.DONE if is_done else Step.NOW if place == first else Step.LATER
            for place, is_done in enumerate(done)
        )
    )


def judge_traffic(key: ApiKey, now: datetime) -> Traffic:
    """Say whether something still uses a key.

    Uses are noted once per `LAST_USED_GRAIN`, so a key is surely silent only after two of them.
    """
    if key.last_used_at is None:
        return Traffic.NEVER
    return Traffic.BUSY if now - key.last_used_at <= 2 * LAST_USED_GRAIN else Traffic.SILENT


def name_successor(old_name: str) -> str:
    """Name a key's replacement, within the allowed length."""
    return old_name[: MAX_NAME_CHARACTERS - len(_SUFFIX)] + _SUFFIX


def list_successors(old: ApiKey, keys: Sequence[ApiKey]) -> list[ApiKey]:
    """Return the keys that could replace a key: the other living ones, newest first."""
    others = (key for key in keys if key.revoked_at is None and key.id != old.id)
    return sorted(others, key=lambda key: key.created_at, reverse=True)


def find_successor(old: ApiKey, keys: Sequence[ApiKey], chosen: ApiKey | None) -> ApiKey | None:
    """Return the key that replaces the old one: the chosen one, else the newest that was named after it."""
    for key in list_successors(old, keys):
        is_namesake = key.name == name_successor(old.name) and key.created_at > old.created_at
        if key.id == chosen.id if chosen else is_namesake:
            return key
    return None
