from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from members.people import join
from monitoring.auth.service import create_team
from monitoring.members.models import Role
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.auth.models import Team
    from monitoring.backends.assembly import Backends
    from monitoring.members.models import User


@pytest.fixture
async def backends(tmp_path: Path) -> AsyncIterator[Backends]:
    """Open a database. Connections are there from the start, or acts at once would wait for them in turn."""
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
async def bob(acme: Team, alice: User) -> User:  # noqa: ARG001 - she was there first
    """Be a member of Acme."""
    return await join(acme, "bob@example.com", Role.MEMBER)


@pytest.fixture
async def charlie(backends: Backends) -> User:  # noqa: ARG001 - it must be open
    """Own another team."""
    return await join(await create_team("Other", "free", 10), "charlie@example.net", Role.OWNER)
