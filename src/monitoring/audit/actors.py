"""Who acts: a person in the app, a program with a key, or somebody at the command line."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Actor:
    """Whom the audit log names: a person's email or a key's name, and the address a request came from."""

    name: str
    user_id: UUID | None = None
    address: str | None = None
    client_id: str | None = None


COMMAND_LINE = Actor("command line")
KEY_PREFIX = "API key "


def key_holder(name: str, client_id: str, address: str | None = None) -> Actor:
    """Name a program by its API key. No email begins so."""
    return Actor(f"{KEY_PREFIX}{name}", address=address, client_id=client_id)


def somebody(address: str) -> Actor:
    """Name a person who did not show who they are."""
    return Actor("somebody", address=address)
