from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from outbound.asking import open_http_client
from outbound.name_server import NameServer, name_server
from outbound.scripted_servers import ScriptedServer, scripted_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from monitoring.outbound.client import HttpClient


@pytest.fixture(params=[False, True], ids=["asyncio", "uvloop"])
def anyio_backend(request: pytest.FixtureRequest) -> tuple[str, dict[str, bool]]:
    """Run everything on both loops: they differ where connections end."""
    return "asyncio", {"use_uvloop": request.param}


@pytest.fixture
async def names() -> AsyncIterator[NameServer]:
    async with name_server() as server:
        yield server


@pytest.fixture
async def server() -> AsyncIterator[ScriptedServer]:
    """Listen where the client may go."""
    async with scripted_server("127.0.0.2") as running:
        yield running


@pytest.fixture
async def forbidden_server() -> AsyncIterator[ScriptedServer]:
    """Listen where the client must not go."""
    async with scripted_server("127.0.0.1") as running:
        yield running


@pytest.fixture
async def client(names: NameServer) -> AsyncIterator[HttpClient]:
    """Open a client that may reach 127.0.0.2 and 127.0.0.3, and nothing else of loopback."""
    networks = ("127.0.0.2/31",)
    async with open_http_client(allowed_networks=networks, dns_servers=(names.address,)) as opened:
        yield opened
