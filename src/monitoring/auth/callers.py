"""Who a request speaks for, once security has let it in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID


@dataclass(frozen=True, slots=True)
class Caller:
    """An API key that lives, and the scopes of the token it sent."""

    client_id: str
    team_id: UUID
    scopes: frozenset[str]
