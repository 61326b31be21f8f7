"""Actors in the audit log: a user of the app, a program with an API key, or the command line."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Actor:
    """An actor in the audit log. `name` is, for example, a user's email, or `API key` and the key's name.

    `address` is an IP address.
    """

    name: str
    user_id: UUID | None = None
    address: str | None = None
    client_id: str | None = None


COMMAND_LINE = Actor("command line")
KEY_PREFIX = "API key "


def key_holder(name: str, client_id: str, address: str | None = None) -> Actor:
    """Return the actor for a program with an API key. The actor's name can never equal an email."""
    return Actor(f"{KEY_PREFIX}{name}", address=address, client_id=client_id)


def reader_of(channel: str, address: str | None) -> Actor:
    """Return the actor for a person who used a link in a message to a channel.

    `channel` is the channel's name or its email address.
    """
    return Actor(f"a reader of {channel}", address=address)


def begin_sentence(actor: str) -> str:
    """Return an actor's name for the beginning of a sentence: an initial `a ` is capitalised."""
    return f"A {actor[2:]}" if actor.startswith("a ") else actor


def somebody(address: str) -> Actor:
    """Return the actor for an unauthenticated person."""
    return Actor("somebody", address=address)
