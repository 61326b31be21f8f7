"""Makes the checks of type ping that standard input asks for, a line each, and prints what each finds.

It is a process of its own, in whose network pings are allowed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import uvloop

from checks.probes.probed import ask
from monitoring.outbound.dialer import open_dialer
from outbound.name_server import name_server

NETWORKS = ("127.0.0.0/8", "::1/128", "192.0.2.0/24", "198.51.100.0/24")


async def check(host: str, addresses: list[str], ip_version: int | None, timeout_seconds: int) -> list[Any]:
    async with name_server() as names:
        names.know("host.example", addresses)
        async with open_dialer(allowed_networks=NETWORKS, dns_servers=(names.address,)) as dialer:
            finding = await ask(
                dialer,
                type="ping",
                url=f"ping://{host}",
                timeout_seconds=timeout_seconds,
                ping={"ip_version": ip_version},
            )
    return [finding.outcome, finding.error, finding.message, finding.timings.total_ms]


if __name__ == "__main__":
    run = uvloop.run if sys.argv[1] == "uvloop" else asyncio.run
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(check(**json.loads(line)))) + "\n")
        sys.stdout.flush()
