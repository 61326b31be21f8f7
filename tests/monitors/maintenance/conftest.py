from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from monitoring.backends.assembly import Backends


@pytest.fixture
async def backends(tmp_path: Path) -> AsyncIterator[Backends]:
    """Open a service without monitors."""
    async with temporary_backends(tmp_path) as opened:
        yield opened
