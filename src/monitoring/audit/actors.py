"""Who acts: a person in the app, or whoever has the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class Actor:
    """Who is named for an act: the email of a person, and the address the request came from."""

    name: str
    user_id: UUID | None = None
    address: str | None = None


COMMAND_LINE = Actor("command line")
