"""A service of this room's own: on SQLite, or on PostgreSQL where `test_on_postgresql` asks for it."""

from __future__ import annotations

import os
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from monitors.test_on_postgresql import ASKED_FOR
from real_servers import running_postgres
from running_service import RunningService, running_service

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with ExitStack() as stack:
        database_url = None
        if ASKED_FOR in os.environ:
            database_url = stack.enter_context(running_postgres()).create_database()
        folder = tmp_path_factory.mktemp("monitors")
        yield stack.enter_context(running_service(folder, database_url=database_url))
