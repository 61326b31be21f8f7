"""`monitoring mcp` as agents run it, and the official package's client of it."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from service_process import MONITORING, TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from cast import Player

Result = TypeVar("Result")

LISTENING = re.compile(r"Listening on (http\S+)")
PATH = os.environ["PATH"]


def environment_of(player: Player) -> dict[str, str]:
    """Return what somebody sets for an agent that acts with their key."""
    url = str(player.base_url).rstrip("/")
    return {"MONITORING_URL": url, "MONITORING_API_KEY": f"{player.client_id}:{player.client_secret}"}


def with_stdio(
    environment: dict[str, str], work: Callable[[Client], Awaitable[Result]], mode: str = "auto"
) -> Result:
    """Start `monitoring mcp` and do something with its tools."""
    command, *arguments = MONITORING
    started = StdioServerParameters(command=command, args=[*arguments, "mcp"], env=environment)

    async def connect() -> Result:
        async with Client(started, mode=mode) as client:
            return await work(client)

    return asyncio.run(connect())


def with_http(
    url: str, token: str, work: Callable[[Client], Awaitable[Result]], mode: str = "auto"
) -> Result:
    """Do something with the tools at a URL as the owner of a token."""

    async def connect() -> Result:
        async with bearing(url, token, mode) as client:
            return await work(client)

    return asyncio.run(connect())


@asynccontextmanager
async def bearing(url: str, token: str, mode: str = "auto") -> AsyncIterator[Client]:
    """Connect as the owner of a token."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http_client,
        Client(streamable_http_client(url, http_client=http_client), mode=mode) as client,
    ):
        yield client


@contextmanager
def serving_http(environment: dict[str, str]) -> Iterator[str]:
    """Run `monitoring mcp --http` on a free port, and yield its URL."""
    command = subprocess.Popen(
        [*MONITORING, "mcp", "--http", "--port", "0"],
        env={"PATH": PATH, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert command.stderr
    try:
        listening = LISTENING.search(command.stderr.readline())
        assert listening
        yield listening[1]
    finally:
        command.terminate()
        _, said = command.communicate(timeout=TIMEOUT_SECONDS)
    assert "Traceback" not in said, said


async def name_tools(client: Client) -> set[str]:
    """Return the names of the tools that a client sees."""
    return {tool.name for tool in (await client.list_tools()).tools}


def says(result: Any) -> str:
    """Return the text of a result."""
    (content,) = result.content
    return str(content.text)
