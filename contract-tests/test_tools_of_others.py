"""Tests that third-party tools can read the document and validate the service (docs/tools.md)."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from cast import Player, form_readers, form_team
from monitoring.auth.sandboxes import open_sandbox
from monitoring.auth.scopes import SCOPES
from monitoring.auth.service import create_key
from monitoring.contract.openapi_30 import derive_openapi_30
from promises import DOCUMENT, PUBLISHED
from real_servers import find_free_port, wait_for_port
from recorded_journey import recorder_at, travel, watch_what_is_down
from running_service import WEBHOOK_SECRET, running_service
from tools_table import ROOT, note
from unsteady_server import UnsteadyServer, unsteady_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.auth.models import Team
    from running_service import RunningService

pytestmark = [
    pytest.mark.embedded("what travels is the same on all backends"),
    pytest.mark.night("the document and the answers are judged by two validators already"),
]

STRANGERS = ROOT / "contract-tests" / "strangers"
LINT = ROOT / "contract-tests" / "lint"
PYTHON = ROOT / "build" / "strangers" / "venv" / "bin" / "python"
ENVIRONMENT = os.environ | {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "REDOCLY_TELEMETRY": "off",
    "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true",
}
TOLD_THE_ADDRESS = "pinged a heartbeat, told nothing but the address: each ping arrived as it was meant"
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def run(*command: str | Path) -> str:
    """Run a command, assert that it succeeds, and return its output."""
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def version_of(package: str, folder: Path = STRANGERS) -> str:
    """Return the version of an installed npm package."""
    version: str = json.loads((folder / "node_modules" / package / "package.json").read_text())["version"]
    return version


def version_in_python(package: str) -> str:
    """Return the version of an installed Python package."""
    code = "import sys; from importlib.metadata import version; print(version(sys.argv[1]))"
    return run(PYTHON, "-c", code, package).strip()


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    """Install the tools that are missing."""
    run(STRANGERS / "install")


@pytest.fixture(scope="module")
def server() -> Iterator[UnsteadyServer]:
    with unsteady_server() as server:
        yield server


@pytest.fixture(scope="module")
def watching_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Start a service that makes checks and may connect to this machine."""
    folder = tmp_path_factory.mktemp("strangers")
    with running_service(folder, checks_at_once=10, allowed_networks=("127.0.0.0/8",)) as service:
        yield service


@pytest.fixture
def owner(watching_service: RunningService, team: Team) -> Iterator[Player]:
    with Player(watching_service, team, SCOPES) as player:
        yield player


@pytest.fixture
def team(watching_service: RunningService) -> Team:
    return form_readers(watching_service)


@pytest.fixture(scope="module")
def exchanges(watching_service: RunningService, server: UnsteadyServer) -> list[dict[str, Any]]:
    """Run the recorded journey through Prism, and return the exchanges."""
    team = form_team(watching_service)
    with (
        Player(watching_service, team) as owner,
        Player(watching_service, team, ["monitors:read"]) as reader,
        prism_before(watching_service) as address,
        recorder_at(address) as recorder,
    ):
        travel(recorder, owner, reader, server)
        unlawful = httpx.post(f"{address}/api/monitors", json={}, headers=recorder.client.headers)
        assert unlawful.headers["content-type"] == "application/problem+json"  # from Prism itself
        return recorder.exchanges


class TestDocument:
    def test_linters_find_nothing(self) -> None:
        run(LINT / "run")
        note(
            "Redocly `lint`",
            version_of("@redocly/cli", LINT),
            "every rule, but for `lint/redocly.yaml`: no finding",
        )
        ruleset = version_of("@stoplight/spectral-owasp-ruleset", LINT)
        note(
            "Spectral",
            version_of("@stoplight/spectral-cli", LINT),
            f"every rule, also those of OWASP ({ruleset}), but for `lint/spectral.yaml`: no finding",
        )

    def test_parsers_find_no_error(self, tmp_path: Path) -> None:
        derived = tmp_path / "openapi-3.0.json"
        derived.write_text(json.dumps(derive_openapi_30(DOCUMENT.root)))
        run("node", STRANGERS / "validate.mjs", PUBLISHED, derived)
        for tool, package in (
            ("Scalar's parser", "@scalar/openapi-parser"),
            ("swagger-parser", "@apidevtools/swagger-parser"),
        ):
            note(tool, version_of(package), "the document and its 3.0 rendition: no error")


class TestWorkflows:
    def test_redocly_runs_them(
        self, watching_service: RunningService, owner: Player, server: UnsteadyServer, tmp_path: Path
    ) -> None:
        job = {"type": "heartbeat", "name": "A job", "heartbeat": {"period_seconds": 3600}}
        heartbeat = owner.post("/api/monitors", json=job).raise_for_status().json()
        sandbox = watching_service.run(open_sandbox(owner.team_id))
        test_key = watching_service.run(create_key(sandbox, "A test key", SCOPES))
        for name in ("openapi.yaml", "arazzo.yaml"):
            (tmp_path / name).write_bytes(httpx.get(f"{watching_service.base_url}/{name}").content)
        inputs = {
            "client_id": owner.client_id,
            "client_secret": owner.client_secret,
            "url": server.url,
            "heartbeat_id": heartbeat["id"],
            "ping_token": heartbeat["ping_url"].rpartition("/")[2],
            "test_client_id": test_key.key.client_id,
            "test_client_secret": test_key.client_secret,
            "webhook_secret": WEBHOOK_SECRET,
        }
        told = run(
            *(LINT / "node_modules" / ".bin" / "redocly", "respect", tmp_path / "arazzo.yaml"),
            *("--server", f"monitoring={watching_service.base_url}"),
            *(part for name, value in inputs.items() for part in ("--input", f"{name}={value}")),
        )
        [workflows] = re.findall(r"Workflows: (\d+) passed, \1 total", told)
        [steps] = re.findall(r"Steps: (\d+) passed, \1 total", told)
        note(
            "Redocly `respect`",
            version_of("@redocly/cli", LINT),
            f"`/arazzo.yaml`: {workflows} workflows of {steps} steps passed",
        )


class TestJourney:
    def test_prism_sees_no_violation(self, exchanges: list[dict[str, Any]]) -> None:
        assert [each for each in exchanges if "sl-violations" in each["headers"]] == []
        kinds = {
            (each["method"], ID.sub("", each["url"].partition("?")[0]), each["status"]) for each in exchanges
        }
        statuses = sorted({status for *_, status in kinds})
        note(
            "Prism",
            version_of("@stoplight/prism-cli"),
            f"`proxy --errors` before a journey of {len(kinds)} kinds of exchanges, with the answers"
            f" {', '.join(map(str, statuses))}: no violation",
        )

    def test_openapi_core_finds_every_exchange_lawful(
        self, exchanges: list[dict[str, Any]], tmp_path: Path
    ) -> None:
        recorded = tmp_path / "exchanges.json"
        recorded.write_text(json.dumps(exchanges))
        run(PYTHON, STRANGERS / "read_exchanges.py", PUBLISHED, recorded)
        version = version_in_python("openapi-core")
        note("openapi-core", version, "every request and answer of Prism's journey: lawful")


class TestPings:
    def test_clients_of_healthchecks_send_them_unchanged(
        self, watching_service: RunningService, owner: Player
    ) -> None:
        given = {"type": "heartbeat", "heartbeat": {"period_seconds": 86_400}}
        monitor = owner.post("/api/monitors", json=given).json()
        where = f"{watching_service.base_url}/ping/", monitor["ping_url"].rpartition("/")[2]
        run(PYTHON, STRANGERS / "ping.py", *where)
        run("node", STRANGERS / "ping.mjs", *where)
        pings = owner.get(f"/api/monitors/{monitor['id']}/pings").json()["pings"]
        first_lines = [ping["body"] and ping["body"].partition("\n")[0] for ping in pings]
        told = [(ping["kind"], ping["exit_code"]) for ping in pings]
        assert [(*each, line) for each, line in zip(told, first_lines, strict=True)][::-1] == [
            ("start", None, None),
            ("success", None, "by healthchecks-io"),
            ("fail", None, "by healthchecks-io"),
            ("fail", 3, "by healthchecks-io"),
            ("start", None, None),
            ("success", None, "by=healthchecks-decorator"),
            ("start", None, None),
            ("fail", None, None),
            ("success", None, "by runchecked"),
            ("fail", None, "by runchecked"),
            ("start", None, None),
            ("success", None, "by healthchecks-io-client"),
            ("fail", None, None),
        ]
        for package in ("healthchecks-decorator", "healthchecks-io", "runchecked"):
            note(package, version_in_python(package), TOLD_THE_ADDRESS)
        note("healthchecks-io-client", version_of("healthchecks-io-client"), TOLD_THE_ADDRESS)


class TestCollection:
    def test_newman_runs_it(
        self, watching_service: RunningService, team: Team, server: UnsteadyServer, tmp_path: Path
    ) -> None:
        collection = tmp_path / "collection.json"
        run("node", STRANGERS / "make_collection.mjs", PUBLISHED, collection)
        folders = {folder["name"] for folder in json.loads(collection.read_text())["item"]}
        sandbox = watching_service.run(open_sandbox(team.id))
        with (
            Player(watching_service, team, SCOPES) as live,
            Player(watching_service, sandbox, SCOPES) as test,
            recorder_at(watching_service.base_url) as recorder,
        ):
            recorder.client.headers["Authorization"] = live.headers["Authorization"]
            watch_what_is_down(recorder, server)  # creates an incident
            requests = run_newman(collection, live, folders - {"Sandbox"})
            requests |= run_newman(collection, test, {"Auth", "Monitors", "Sandbox"})
        assert len(requests) == len(DOCUMENT.operations)
        note(
            "Newman",
            version_of("newman"),
            f"the Postman collection of `make dist`: {len(requests)} requests succeeded",
        )
        note(
            "openapi-to-postmanv2",
            version_of("openapi-to-postmanv2"),
            "the Postman collection of `make dist`",
        )


def run_newman(collection: Path, caller: Player, folders: set[str]) -> set[str]:
    """Send the requests in some folders, assert that all succeed, and return their names."""
    report = collection.with_name("report.json")
    variables = {
        "baseUrl": str(caller.base_url).rstrip("/"),
        "client_id": caller.client_id,
        "client_secret": caller.client_secret,
        "apiKey": WEBHOOK_SECRET,
    }
    run(
        *(STRANGERS / "node_modules" / ".bin" / "newman", "run", collection),
        *(part for name, value in variables.items() for part in ("--env-var", f"{name}={value}")),
        *(part for folder in folders for part in ("--folder", folder)),
        *("--reporters", "cli,json", "--reporter-json-export", report),
    )
    return {execution["item"]["name"] for execution in json.loads(report.read_text())["run"]["executions"]}


@contextmanager
def prism_before(service: RunningService) -> Iterator[str]:
    """Start a proxy that returns an error instead if a request or response violates the document.

    Yield its URL.
    """
    port = find_free_port()
    prism = subprocess.Popen(
        [
            *(STRANGERS / "node_modules" / ".bin" / "prism", "proxy", "--errors", "--verboseLevel", "silent"),
            *("--port", str(port), PUBLISHED, service.base_url),
        ],
        env=ENVIRONMENT,
        start_new_session=True,  # the Python parent process would not forward signals to Node.js
    )
    try:
        wait_for_port(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(prism.pid, signal.SIGTERM)
        prism.wait()
