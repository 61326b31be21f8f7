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
    """A publisher that sent one of `WEBHOOK_TEST_SECRETS`. It submits and reads test articles only."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An active API key, with the scopes of its token and the client's address."""

    client_id: str
    team_id: UUID
    scopes: frozenset[str]
    name: str = ""
    address: str | None = None

    @property
    def mode(self) -> str:
        """The key's mode: LIVE_MODE or TEST_MODE."""
        return mode_of(self.client_id)

    @property
    def actor(self) -> Actor:
        """The key as an actor in the audit log."""
        return key_holder(self.name, self.client_id, self.address)


def mode_of(client_id: str) -> str:
    """Return a key's mode, which is the value of the `Monitoring-Mode` header."""
    return TEST_MODE if client_id.startswith(TEST_CLIENT_ID_PREFIX) else LIVE_MODE
