"""Runs every command in the guides as a newcomer would, against `monitoring dev`."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import httpx
import pytest
from markdown_it import MarkdownIt

from clean_logs import demand_no_traceback
from monitoring.contract.document import published_document
from monitoring.notifications.retries import WAITS
from monitoring.reference.pages import list_guides
from ready_tables import make_tables
from service_process import MONITORING, TIMEOUT_SECONDS, wait_until
from temporary_backends import make_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

pytestmark = pytest.mark.embedded("the guides are about what `make run` starts")

ROOT = Path(__file__).parent.parent
GUIDES = ROOT / "docs" / "guides"
DEFAULT_URL = "http://127.0.0.1:8000"
DEFAULT_PORT = "9100"  # the port of the server that the guides monitor
FIRST_GUIDE = "quick-start"
EXPECTED_BLOCKS = 2  # in the first guide, which defines variables and a token for the others
STARTS_ANEW = {FIRST_GUIDE, "authentication"}  # the second one revokes the key that the others use
EVERY_TIME = {FIRST_GUIDE, "publisher-webhook", "watching-monitors"}  # where most readers begin
OPERATING = (
    "export DATA_DIR=data SIGNING_KEYS=$(cat data/signing_key) ENCRYPTION_KEYS=$(cat data/encryption_key)\n"
)
NOT_RUN_HERE = {"fuzz-it-in-your-ci", "generate-an-sdk"}  # other test suites run these commands
JAVASCRIPT_PACKAGES = ROOT / "build" / "sdks"
LISTENING = re.compile(r"listening on (http\S+)")


class Block(NamedTuple):
    """Commands, and their output according to the guide: JSON, text or nothing."""

    commands: str
    kind: str
    answer: str


def read_fences(name: str) -> list[Token]:
    tokens = MarkdownIt().parse((GUIDES / f"{name}.md").read_text())
    return [token for token in tokens if token.type == "fence"]


def read_blocks(name: str) -> list[Block]:
    answers = ("json", "text")
    return [
        Block(fence.content, *((after.info, after.content) if after and after.info in answers else ("", "")))
        for fence, after in pairwise([*read_fences(name), None])
        if fence and fence.info == "sh" and fence.content != "make run\n"
    ]


def read_code(name: str, language: str) -> str:
    """Return the only code block in a language in a guide."""
    (code,) = (fence.content for fence in read_fences(name) if fence.info == language)
    return code


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Start a service for all guides that can share it. Together, they create more than the plan permits."""
    with running_dev(tmp_path_factory.mktemp("reader")) as (folder, base_url):
        run_blocks(folder, [Block(f"{OPERATING}.venv/bin/monitoring teams change-plan Demo team\n", "", "")])
        yield folder, base_url


@pytest.fixture
def newcomer(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Path, str]]:
    """Start a service for one guide. For the quick start, it creates its own tables."""
    with running_dev(tmp_path, has_tables=FIRST_GUIDE not in request.node.name) as started:
        yield started


@contextmanager
def running_dev(folder: Path, *, has_tables: bool = True) -> Iterator[tuple[Path, str]]:
    """Copy the files that the guides use, and start the service. Yield the folder and the URL."""
    if has_tables:
        (folder / "data").mkdir()
        make_tables(make_settings(folder / "data"))
    for name in ("docs", "examples"):
        (folder / name).symlink_to(ROOT / name)
    commands = folder / ".venv" / "bin"
    commands.mkdir(parents=True)
    (commands / "monitoring").write_text(f'#!/bin/sh\nexec {sys.executable} -c "{MONITORING[-1]}" "$@"\n')
    (commands / "monitoring").chmod(0o755)
    log = folder / "log"
    with log.open("w") as output:
        service = subprocess.Popen(
            [*MONITORING, "dev"], cwd=folder, env={"PORT": "0"}, stdout=output, stderr=output
        )
    try:
        wait_until(lambda: LISTENING.search(log.read_text()) or service.poll() is not None)
        listening = LISTENING.search(log.read_text())
        assert listening, log.read_text()
        yield folder, listening[1]
    finally:
        service.kill()
        service.wait(TIMEOUT_SECONDS)
    demand_no_traceback(log)


@pytest.fixture
def unused_port() -> Iterator[int]:
    """Reserve a port that no other program gets, but on which a server can still listen."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def run_blocks(folder: Path, blocks: list[Block]) -> list[str]:
    """Run blocks in one shell that stops at the first failing command. Return the output of each block.

    The shell's background processes end with the shell.
    """
    script = [f"{{\n{block.commands}}} > printed-{number}" for number, block in enumerate(blocks)]
    errors = folder / "errors"
    with errors.open("w") as stderr:
        shell = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", "\n".join(script)],
            cwd=folder,
            stderr=stderr,
            start_new_session=True,
        )
    try:
        status = shell.wait(TIMEOUT_SECONDS)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(shell.pid, signal.SIGKILL)
        shell.wait(TIMEOUT_SECONDS)
    assert status == 0, errors.read_text()
    return [(folder / f"printed-{number}").read_text() for number in range(len(blocks))]


@pytest.mark.programs("curl")
@pytest.mark.parametrize(
    "name",
    [
        name if name in EVERY_TIME else pytest.param(name, marks=pytest.mark.night("it changes seldom"))
        for name in list_guides(published_document())
        if name not in NOT_RUN_HERE
    ],
)
def test_every_command_of_a_guide_works_and_answers_as_it_says(
    name: str, request: pytest.FixtureRequest, unused_port: int
) -> None:
    folder, base_url = request.getfixturevalue("newcomer" if name in STARTS_ANEW else "reader")
    blocks = read_blocks(FIRST_GUIDE)
    if name != FIRST_GUIDE:
        blocks = [*blocks[:EXPECTED_BLOCKS], *read_blocks(name)]
    blocks = [
        block._replace(
            commands=block.commands.replace(DEFAULT_URL, base_url).replace(DEFAULT_PORT, str(unused_port))
        )
        for block in blocks
    ]
    for block, printed in zip(blocks, run_blocks(folder, blocks), strict=True):
        if block.kind == "json":
            assert outline(json.loads(printed)) == outline(json.loads(block.answer)), block.commands
        elif block.kind:
            assert printed == block.answer, block.commands
        assert block.answer or '"error"' not in printed, block.commands


def outline(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a response that are the same in every run: field names, and an error's sentence."""
    return answer if "error" in answer else dict.fromkeys(answer)


class TestNotifications:
    """Compares the guide's description of messages with a message from the service."""

    PAGE = "notification-channels"

    def test_the_retries_are_those_that_there_are(self) -> None:
        page = (GUIDES / f"{self.PAGE}.md").read_text()
        rows = re.findall(r"^\| (\d) \| (?:(\d+) (second|minute|hour)s?|none) \|$", page, re.MULTILINE)
        unit_seconds = {"second": 1, "minute": 60, "hour": 3600, "": 0}
        told = [(int(attempt), int(count or 0) * unit_seconds[unit]) for attempt, count, unit in rows]
        pauses = [0.0, *(wait.total_seconds() for wait in WAITS)]
        assert told == list(enumerate(pauses, start=1))

    def test_the_fields_are_those_that_arrive(self, reader: tuple[Path, str]) -> None:
        headers, body = receive_a_test_message(*reader)[1:]
        head, _, shown = read_code(self.PAGE, "http").partition("\n\n")
        assert json.loads(shown).keys() == json.loads(body).keys()
        names = {line.partition(":")[0].lower() for line in head.splitlines()[1:]}
        assert names <= {name.lower() for name in headers}

    @pytest.mark.parametrize(
        ("language", "command", "call"),
        [
            (
                "python",
                [sys.executable, "-c"],
                """
import json, os
given = [os.environ["SECRET"], json.loads(os.environ["HEADERS"]), os.environ["BODY"].encode()]
print(json.dumps(read_notification(*given)))
""",
            ),
            (
                "javascript",
                ["node", "--input-type=module", "-e"],
                """
const {SECRET, HEADERS, BODY} = process.env;
console.log(JSON.stringify(readNotification(SECRET, JSON.parse(HEADERS), Buffer.from(BODY))));
""",
            ),
        ],
        ids=["Python", "JavaScript"],
    )
    def test_its_code_believes_the_service_and_nobody_else(
        self, language: str, command: list[str], call: str, reader: tuple[Path, str]
    ) -> None:
        packages = JAVASCRIPT_PACKAGES if language == "javascript" else None
        if packages and not (packages / "node_modules" / "standardwebhooks").is_dir():
            pytest.skip("`make sdks` installs the package")
        secret, headers, body = receive_a_test_message(*reader)

        def run(body: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [*command, read_code(self.PAGE, language) + call],
                cwd=packages,
                env={"PATH": os.environ["PATH"], "SECRET": secret, "HEADERS": headers_text, "BODY": body},
                capture_output=True,
                text=True,
                check=False,
                timeout=TIMEOUT_SECONDS,
            )

        headers_text = json.dumps(headers)
        believed = run(body)
        assert believed.returncode == 0, believed.stderr
        assert json.loads(believed.stdout) == json.loads(body)
        refused = run(body.replace('"test"', '"incident.opened"'))
        assert refused.returncode
        assert "WebhookVerificationError" in refused.stderr


def receive_a_test_message(folder: Path, base_url: str) -> tuple[str, dict[str, str], str]:
    """Register a webhook, and send it a test message.

    Return its secret, and the message's headers and body.
    """
    client_id, client_secret = (folder / "data" / "demo_key").read_text().split()
    with receiving() as (url, received), httpx.Client(base_url=base_url) as client:
        credentials = {"client_id": client_id, "client_secret": client_secret}
        token = client.post("/api/oauth/token", data=credentials).json()["access_token"]
        client.headers["Authorization"] = f"Bearer {token}"
        webhook = client.post("/api/notification-channels", json={"type": "webhook", "url": url}).json()
        client.post(f"/api/notification-channels/{webhook['id']}/test").raise_for_status()
        wait_until(lambda: received)
    return webhook["secret"], *received[0]


@contextmanager
def receiving() -> Iterator[tuple[str, list[tuple[dict[str, str], str]]]]:
    """Run an HTTP server. Yield its URL, and a list that collects the headers and bodies of POST requests."""
    received: list[tuple[dict[str, str], str]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self.send_response(204)
            self.end_headers()
            received.append((dict(self.headers), body))

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Receiver) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/hooks", received
        finally:
            server.shutdown()
            thread.join()
