from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from notifications.addressee import Addressee
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from monitoring.backends.assembly import Backends


@pytest.fixture
async def backends(tmp_path: Path) -> AsyncIterator[Backends]:
    """Open a service that may reach this machine."""
    async with temporary_backends(tmp_path, allowed_networks="127.0.0.0/8") as opened:
        yield opened


@pytest.fixture
def addressee() -> Iterator[Addressee]:
    with Addressee() as listening:
        yield listening
