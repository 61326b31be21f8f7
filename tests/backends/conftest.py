from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from real_servers import running_redis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from real_servers import RedisServer


@pytest.fixture
def redis_server() -> Iterator[RedisServer]:
    with running_redis() as server:
        yield server
