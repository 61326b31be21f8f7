"""Has jobs ping a heartbeat by clients of Healthchecks, each told only the address.

python contract-tests/strangers/ping.py https://monitoring.example.com/ping/ UUID
"""

from __future__ import annotations

import sys
from contextlib import suppress

from healthchecks_decorator import healthcheck
from healthchecks_io import Client
from runchecked import HealthCheckedContext


def ping_by_client(base_url: str, uuid: str) -> None:
    """Send every kind of ping."""
    with Client(ping_url=base_url) as client:
        sent = [
            client.start_ping(uuid),
            client.success_ping(uuid, data="by healthchecks-io"),
            client.fail_ping(uuid, data="by healthchecks-io"),
            client.exit_code_ping(3, uuid, data="by healthchecks-io"),
        ]
    if sent != [(True, "OK")] * len(sent):
        sys.exit(f"healthchecks-io was answered {sent}")


def ping_by_decorator(ping_url: str) -> None:
    """Run a job that succeeds, and one that fails."""

    @healthcheck(url=ping_url, send_start=True, send_diagnostics=True)
    def back_up(*, disk_is_full: bool) -> dict[str, str]:
        if disk_is_full:
            raise OSError
        return {"by": "healthchecks-decorator"}

    back_up(disk_is_full=False)
    with suppress(OSError):
        back_up(disk_is_full=True)


def ping_by_runner(ping_url: str) -> None:
    """Run a command that succeeds, and one that fails."""
    for status in (0, 7):
        with HealthCheckedContext(ping_url, enable_tty_output=False) as job:
            job.run(["sh", "-c", f"echo by runchecked; exit {status}"])


if __name__ == "__main__":
    base_url, uuid = sys.argv[1:]
    ping_by_client(base_url, uuid)
    ping_by_decorator(base_url + uuid)
    ping_by_runner(base_url + uuid)
