"""The caller of an authenticated request."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from monitoring.audit.actors import Actor, key_holder


@dataclass(frozen=True, slots=True)
class TestPublisher:
    """Whoever sent one of `WEBHOOK_TEST_SECRETS`: the articles it submits and reads are tests."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An API key that is not revoked, with the scopes of its token and the client's address."""

    client_id: str
    team_id: UUID
    scopes: frozenset[str]
    name: str = ""
    address: str | None = None

    @property
    def actor(self) -> Actor:
        """The key as an actor of the audit log."""
        return key_holder(self.name, self.client_id, self.address)
