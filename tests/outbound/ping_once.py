"""Makes a check of type ping in a process of its own, in whose network pings are allowed, and prints it."""

from __future__ import annotations

import asyncio
import json
import sys

import uvloop

from checks.probes.probed import ask
from monitoring.outbound.dialer import open_dialer
from outbound.name_server import name_server


async def main(host: str, ip_version: str, timeout_seconds: str, *addresses: str) -> None:
    async with name_server() as names:
        names.know("host.example", list(addresses))
        async with open_dialer(
            allowed_networks=("127.0.0.0/8", "::1/128", "192.0.2.0/24", "198.51.100.0/24"),
            dns_servers=(names.address,),
        ) as dialer:
            finding = await ask(
                dialer,
                type="ping",
                url=f"ping://{host}",
                timeout_seconds=int(timeout_seconds),
                ping={"ip_version": int(ip_version) or None},
            )
    json.dump([finding.outcome, finding.error, finding.message, finding.timings.total_ms], sys.stdout)


if __name__ == "__main__":
    run = uvloop.run if sys.argv[1] == "uvloop" else asyncio.run
    run(main(*sys.argv[2:]))
