"""Checks whether a URL's host may be connected to, before anything is sent there."""

from __future__ import annotations

import asyncio

from monitoring.outbound.addresses import Address, is_permitted, read_networks
from monitoring.outbound.failures import ExchangeFailed
from monitoring.outbound.targets import Target, UnusableUrl, read_target
from monitoring.settings import Settings

# This timeout is short, because a client waits for the result. Security does not depend on the result,
# because every connection checks its addresses again.
RESOLVING_SECONDS = 2.0


async def may_be_reached(url: str, settings: Settings) -> bool:
    """Return whether all current addresses of the URL's host may be connected to.

    The result is also True for a host that cannot be resolved within `RESOLVING_SECONDS`, because no
    forbidden address is known.
    """
    try:
        target = read_target(url)
    except UnusableUrl:
        return False
    networks = read_networks(settings.allowed_networks)
    return all(is_permitted(address, networks) for address in await _find_addresses(target, settings))


async def _find_addresses(target: Target, settings: Settings) -> list[Address]:
    if target.address:
        return [target.address]

    from monitoring.outbound.resolving import Resolver  # noqa: PLC0415 - 1 MiB, for names that are rarely resolved

    try:
        async with asyncio.timeout(RESOLVING_SECONDS), Resolver(settings.dns_servers) as resolver:
            return await resolver.resolve(target.host)
    except (ExchangeFailed, OSError):  # TimeoutError is an OSError
        return []
