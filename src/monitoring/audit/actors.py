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
    """Name a program by its API key, in a form that no email has."""
    return Actor(f"{KEY_PREFIX}{name}", address=address, client_id=client_id)


def begin_sentence(actor: str) -> str:
    """Write an actor's name at the beginning of a sentence: `A reader of …`. Names and emails stay."""
    return f"A {actor[2:]}" if actor.startswith("a ") else actor


def somebody(address: str) -> Actor:
    """Name a person who was not authenticated."""
    return Actor("somebody", address=address)
