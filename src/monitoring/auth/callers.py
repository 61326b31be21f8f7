"""The caller of an authenticated request."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from monitoring.audit.actors import Actor, key_holder
from monitoring.auth.credentials import TEST_CLIENT_ID_PREFIX

MODE_HEADER = "Monitoring-Mode"
LIVE_MODE = "live"
TEST_MODE = "test"


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
    def mode(self) -> str:
        """The world in which the key acts: LIVE_MODE or TEST_MODE."""
        return mode_of(self.client_id)

    @property
    def actor(self) -> Actor:
        """The key as an actor of the audit log."""
        return key_holder(self.name, self.client_id, self.address)


def mode_of(client_id: str) -> str:
    """Return the world of a key, as the header `Monitoring-Mode` says it."""
    return TEST_MODE if client_id.startswith(TEST_CLIENT_ID_PREFIX) else LIVE_MODE
