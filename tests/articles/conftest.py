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
    """Open a service that translates into two locales and gives up after three attempts."""
    async with temporary_backends(
        tmp_path,
        locales="es,pt-BR",
        translator="pseudo",
        translation_max_attempts=3,
        translation_lease_seconds=5,
    ) as opened:
        yield opened
