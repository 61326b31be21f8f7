"""How far a key's replacement has come: the three steps of the published interface, and their state."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from monitoring.auth.names import MAX_NAME_CHARACTERS
from monitoring.auth.service import LAST_USED_GRAIN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from monitoring.auth.models import ApiKey

_SUFFIX = " (new)"


class Step(StrEnum):
    """Where a step stands."""

    DONE = "done"
    NOW = "now"
    LATER = "later"


class Traffic(StrEnum):
    """What "last used" tells of a key. `SILENT` is certain; `BUSY` may have ended within the last hours."""

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
    """Say where each step stands. The first that is not done comes now, the others later."""
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

    A use is noted once in `LAST_USED_GRAIN`: only after two of them is a whole one known to be silent.
    """
    if key.last_used_at is None:
        return Traffic.NEVER
    return Traffic.BUSY if now - key.last_used_at <= 2 * LAST_USED_GRAIN else Traffic.SILENT


def name_successor(old_name: str) -> str:
    """Name the key that replaces one, within the length a name can have."""
    return old_name[: MAX_NAME_CHARACTERS - len(_SUFFIX)] + _SUFFIX


def list_successors(old: ApiKey, keys: Sequence[ApiKey]) -> list[ApiKey]:
    """Return the keys that can take a key's place: the other living ones, newest first."""
    others = (key for key in keys if key.revoked_at is None and key.id != old.id)
    return sorted(others, key=lambda key: key.created_at, reverse=True)


def find_successor(old: ApiKey, keys: Sequence[ApiKey], chosen: ApiKey | None) -> ApiKey | None:
    """Return the key that takes a key's place: the chosen one, else the newest that was named after it."""
    for key in list_successors(old, keys):
        is_namesake = key.name == name_successor(old.name) and key.created_at > old.created_at
        if key.id == chosen.id if chosen else is_namesake:
            return key
    return None
