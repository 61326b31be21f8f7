"""Who acts: a person in the app, a program with a key, or somebody at the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class Actor:
    """Whom the audit log names: a person's email, and the address their request came from."""

    name: str
    user_id: UUID | None = None
    address: str | None = None


COMMAND_LINE = Actor("command line")


def key_holder(client_id: str) -> Actor:
    """Name a program by its API key."""
    return Actor(f"API key {client_id}")


def somebody(address: str) -> Actor:
    """Name a person who did not show who they are."""
    return Actor("somebody", address=address)
