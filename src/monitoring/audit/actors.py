"""Actors: a user of the app, a program with a key, or the command line."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Actor:
    """An actor in the audit log: a user's email or a key's name, and the address a request came from."""

    name: str
    user_id: UUID | None = None
    address: str | None = None
    client_id: str | None = None


COMMAND_LINE = Actor("command line")
KEY_PREFIX = "API key "


def key_holder(name: str, client_id: str, address: str | None = None) -> Actor:
    """Return the actor for a program with an API key. Its name can never equal an email."""
    return Actor(f"{KEY_PREFIX}{name}", address=address, client_id=client_id)


def reader_of(channel: str, address: str | None) -> Actor:
    """Name a person who used a link sent to a channel, by the channel's name or email address."""
    return Actor(f"a reader of {channel}", address=address)


def begin_sentence(actor: str) -> str:
    """Capitalise an actor's name that begins with `a `, to begin a sentence. Other names are unchanged."""
    return f"A {actor[2:]}" if actor.startswith("a ") else actor


def somebody(address: str) -> Actor:
    """Return the actor for an unauthenticated person."""
    return Actor("somebody", address=address)
