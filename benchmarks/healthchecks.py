"""Healthchecks under uwsgi beside the service, if there is a checkout: docs/performance.md has the recipe."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from load import Load, write_request
from monitors_api import call, forget_created, running_cast
from real_servers import find_free_port, wait_for_port
from rounds import Scenario, take_turns
from seeds import NEW_MONITOR
from servers import Program, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bench import Bench
    from rounds import Sample
    from servers import Server

API_KEY = "a" * 32
HEADERS = {"X-Api-Key": API_KEY}
NEW_CHECK = {
    "name": NEW_MONITOR["name"],
    "tags": "shop production",
    "desc": NEW_MONITOR["url"],
    "timeout": 61,
    "grace": 60,
}
FURNISH = f"""
from django.contrib.auth.models import User
from hc.accounts.models import Profile, Project
from hc.api.models import Check
owner = User.objects.create_user("owner", "owner@example.org", "password")
Profile.objects.for_user(owner)
Profile.objects.filter(user=owner).update(check_limit=1_000_000)
project = Project.objects.create(owner=owner, name="Bench", api_key="{API_KEY}")
Check.objects.bulk_create(
    Check(project=project, name="Checkout of the storefront", tags="shop production", desc="x" * 55)
    for _ in range(50)
)
"""
FORGET = "from hc.api.models import Check; Check.objects.filter(timeout='00:01:01').delete()"


def measure_healthchecks(bench: Bench, folder: Path) -> list[Scenario]:
    """Measure a list of 50 and creating one, each on a connection that is kept.

    Healthchecks needs a later Python than Debian 12's, and builds of it may differ in speed. So the service
    beside it runs on the Python that `make` uses, not on the system's.
    """
    with (
        running_cast(bench, ["service"], Path(sys.executable)) as cast,
        _running_healthchecks(bench, folder) as (server, forget),
    ):
        servers = {"service": cast.servers["service"], "Healthchecks under uwsgi": server}
        requests = {
            "service": ("/api/monitors", cast.headers(), NEW_MONITOR),
            "Healthchecks under uwsgi": ("/api/v3/checks/", HEADERS, NEW_CHECK),
        }

        def run_list(name: str) -> Sample:
            path, headers, _ = requests[name]
            length = len(call(servers[name].port, "GET", path, headers))
            return _sample(bench, servers[name], write_request("GET", path, headers), length)

        def run_create(name: str) -> Sample:
            path, headers, body = requests[name]
            length = len(call(servers[name].port, "POST", path, headers, json.dumps(body)))
            sample = _sample(bench, servers[name], write_request("POST", path, headers, body), length)
            if name == "service":
                forget_created(cast.databases[name])
            else:
                forget()
            return sample

        names, rounds = list(servers), bench.effort.rounds
        return [
            Scenario("list_healthchecks", "List of 50, one connection", take_turns(names, rounds, run_list)),
            Scenario(
                "create_healthchecks", "Create one, one connection", take_turns(names, rounds, run_create)
            ),
        ]


def _sample(bench: Bench, server: Server, request: str, length: int) -> Sample:
    """Use one connection, because a uwsgi process serves no other while it is open."""
    bounds = (length - 500, length + 500)
    return bench.sample(Load([server.port], [request], bounds, 1, bench.effort.seconds), server)


@contextmanager
def _running_healthchecks(bench: Bench, folder: Path) -> Iterator[tuple[Server, Callable[[], None]]]:
    """Start Healthchecks as its Docker image does, but with one process and only for its API."""
    postgres, port = bench.backends.postgres, find_free_port()
    url = postgres.create("healthchecks")
    environment = {
        "PATH": os.environ["PATH"],
        "DB": "postgres",
        "DB_NAME": "healthchecks",
        "DB_HOST": "127.0.0.1",
        "DB_PORT": str(postgres.port),
        "DB_USER": "tests",
        "DB_CONN_MAX_AGE": "3600",
        "SECRET_KEY": "of-the-benchmarks",
        "DEBUG": "False",
        "ALLOWED_HOSTS": "*",
    }
    programs = folder / "venv" / "bin"

    def manage(*arguments: str) -> None:
        command = [str(programs / "python"), "manage.py", *arguments]
        subprocess.run(command, env=environment, cwd=folder, check=True, stderr=subprocess.DEVNULL)

    manage("migrate", "-v0")
    manage("shell", "-v0", "-c", FURNISH)
    command = [
        *(str(programs / "uwsgi"), "--http11-socket", f"127.0.0.1:{port}", "--chdir", str(folder)),
        *("--module", "hc.wsgi:application", "--master", "--processes", "1", "--threads", "1"),
        *("--enable-threads", "--buffer-size", "32768", "--disable-logging", "--die-on-term"),
    ]
    with running(Program("Healthchecks", command, environment), listens=False) as server:
        wait_for_port(port)
        server.port = port
        yield server, lambda: manage("shell", "-v0", "-c", FORGET)
    postgres.drop_database(url)
