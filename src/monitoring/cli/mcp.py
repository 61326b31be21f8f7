"""`monitoring mcp`: the API as tools for agents. As a client, it reads none of the service's settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from importlib.util import find_spec
from typing import Annotated

import httpx2
import typer
import uvicorn

from monitoring.agents.calls import Key, Service, ServiceError
from monitoring.cli.failing import fail
from monitoring.cli.listening import base_url_of, listen
from monitoring.cli.reaching import read_key, read_url

app = typer.Typer()

NOT_INSTALLED = "The package mcp is missing; install monitoring-service[mcp], or constraints-mcp.txt"


@app.command()
def mcp(
    host: Annotated[str, typer.Option(help="With --http, the address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="With --http, the port; 0 takes a free one.")] = 8900,
    *,
    http: Annotated[
        bool, typer.Option("--http", help="Serve HTTP. Each caller must send its own bearer token.")
    ] = False,
) -> None:
    """Offer the API as tools for agents (Model Context Protocol), on standard input and output or over HTTP.

    MONITORING_URL is the URL of the service. MONITORING_API_KEY is the API key to use: its client_id, a
    colon, and its client_secret. With --http, MONITORING_API_KEY is not used, because each caller sends its
    own bearer token.
    """
    url = read_url()
    _demand_package()
    if http:
        asyncio.run(_serve_http(url, host, port))
        return
    asyncio.run(_serve_stdio(url, *read_key()))


def _demand_package() -> None:
    """End the command if the optional package `mcp` is not installed."""
    if find_spec("mcp") is None:
        fail(NOT_INSTALLED)


async def _serve_stdio(url: str, client_id: str, client_secret: str) -> None:
    from monitoring.agents.server import serve_stdio  # noqa: PLC0415 - needs the package, and --help does not

    async with _reaching(url) as service:
        key = Key(service, client_id, client_secret)
        try:
            await key.grant()  # reports a wrong key at the start, where a person sees the message
        except ServiceError as error:
            fail(str(error))
        await serve_stdio(service, key)


async def _serve_http(url: str, host: str, port: int) -> None:
    from monitoring.agents.server import make_http_app  # noqa: PLC0415 - see above

    with listen(host, port) as listener:
        async with _reaching(url) as service:
            typer.echo(f"Listening on {base_url_of(listener)}/mcp", err=True)
            app = make_http_app(service, host)
            await uvicorn.Server(uvicorn.Config(app, log_level="warning")).serve(sockets=[listener])


@asynccontextmanager
async def _reaching(url: str) -> AsyncIterator[Service]:
    """Open a client that stores no cookies, because several callers share it."""
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    async with httpx2.AsyncClient(cookies=no_cookies) as client:
        yield Service(url, client)
