"""Who a request speaks for, once security has let it in."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from monitoring.audit.actors import Actor, key_holder


@dataclass(frozen=True, slots=True)
class Caller:
    """An API key that lives, the scopes of the token it sent, and the address it was sent from."""

    client_id: str
    team_id: UUID
    scopes: frozenset[str]
    name: str = ""
    address: str | None = None

    @property
    def actor(self) -> Actor:
        """The key, as the audit log names it."""
        return key_holder(self.name, self.client_id, self.address)
