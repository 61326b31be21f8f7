"""A service that starts in a thread does not disturb another one that reads rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from monitoring.notifications.models import NotificationChannel
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from pathlib import Path

    from monitoring.backends.assembly import Backends


@pytest.mark.anyio
async def test_opening_another_database_leaves_the_lists_of_columns_alone(
    backends: Backends, tmp_path: Path
) -> None:
    columns = NotificationChannel._meta.db_fields  # noqa: SLF001
    async with temporary_backends(tmp_path) as others:
        assert others.database is not backends.database
    assert NotificationChannel._meta.db_fields is columns  # noqa: SLF001
