from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from members.people import join
from monitoring.auth.service import create_team
from monitoring.members import passwords
from monitoring.members.models import Role
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from monitoring.auth.models import Team
    from monitoring.backends.assembly import Backends
    from monitoring.members.models import User

FULL_STRENGTH = passwords._hasher  # noqa: SLF001 - that of the service, before the tests' cheap one replaces it


@pytest.fixture
def full_strength(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Hash passwords as the service does outside tests."""
    monkeypatch.setattr(passwords, "_hasher", FULL_STRENGTH)
    passwords._nobodys_hash.cache_clear()  # noqa: SLF001 - it has the strength of the hasher that made it
    yield
    passwords._nobodys_hash.cache_clear()  # noqa: SLF001


@pytest.fixture
async def backends(tmp_path: Path) -> AsyncIterator[Backends]:
    """Open a database with all connections from the start, so that changes at once do not wait for them."""
    async with temporary_backends(tmp_path, database_pool_min_connections=5) as opened:
        yield opened


@pytest.fixture
async def acme(backends: Backends) -> Team:  # noqa: ARG001 - it must be open
    """Make the team of Alice and Bob."""
    return await create_team("Acme", "free", 10)


@pytest.fixture
async def alice(acme: Team) -> User:
    """Own Acme."""
    return await join(acme, "alice@example.com", Role.OWNER)


@pytest.fixture
async def bob(acme: Team, alice: User) -> User:  # noqa: ARG001 - she joined first
    """Be a member of Acme."""
    return await join(acme, "bob@example.com", Role.MEMBER)


@pytest.fixture
async def charlie(backends: Backends) -> User:  # noqa: ARG001 - it must be open
    """Own another team."""
    return await join(await create_team("Other", "free", 10), "charlie@example.net", Role.OWNER)
