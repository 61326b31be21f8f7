"""Agents are the official package's own client, over both transports and both generations of the protocol."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import httpx2
import pytest
from mcp import Client, MCPError

from agents.running_mcp import bearing, environment_of, name_tools, says, serving_http, with_http, with_stdio
from cast import Player
from monitoring.agents.calls import Key, Service
from monitoring.agents.server import make_server
from monitoring.agents.tools import PURPOSES
from monitoring.auth.sandboxes import open_sandbox
from monitoring.contract.document import published_document
from service_process import MONITORING, TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from running_service import RunningService

MODES = ["auto", pytest.param("legacy", marks=pytest.mark.night("the package does both in one place"))]
READING = {
    name
    for name in PURPOSES
    if published_document().operations[name].definition["x-required-scope"] == "monitors:read"
}
MONITOR = {"url": "https://shop.example.com", "name": "Shop", "tags": ["shop"]}


@pytest.fixture(scope="module")
def url(service: RunningService) -> Iterator[str]:
    """Serve HTTP beside a key that must never be used."""
    environment = {"MONITORING_URL": service.base_url, "MONITORING_API_KEY": "nobody:nothing"}
    with serving_http(environment) as running:
        yield running


@pytest.fixture(params=["stdio", "http"])
def act(request: pytest.FixtureRequest, alice: Player) -> Callable[..., Any]:
    """Let Alice's agent do something, over each transport."""
    if request.param == "stdio":
        return lambda work, **mode: with_stdio(environment_of(alice), work, **mode)
    address = request.getfixturevalue("url")
    return lambda work, **mode: with_http(address, alice.fetch_token(), work, **mode)


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_creates_finds_and_deletes_a_monitor(
    act: Callable[..., Any], alice: Player, mode: str
) -> None:
    async def work(agent: Client) -> None:
        created = await agent.call_tool("create_monitor", MONITOR)
        assert not created.is_error
        status, _, text = says(created).partition(" ")
        monitor = json.loads(text)
        assert (status, monitor["name"]) == ("201", "Shop")
        listed = await agent.call_tool("list_monitors", {"tag": "shop", "paused": False, "cursor": None})
        assert says(listed) == f"200 {alice.get('/api/monitors', params={'tag': 'shop'}).text}"
        changed = await agent.call_tool(
            "update_monitor", {"monitor_id": monitor["id"], "paused": True, "slow_threshold_ms": 900}
        )
        assert json.loads(says(changed).removeprefix("200 "))["paused"] is True
        deleted = await agent.call_tool("delete_monitor", {"monitor_id": monitor["id"]})
        assert (says(deleted), deleted.is_error) == ("204", False)

    act(work, mode=mode)
    assert alice.get("/api/monitors").json()["monitors"] == []


def test_an_agent_with_a_test_key_stays_in_the_sandbox(service: RunningService, alice: Player) -> None:
    async def work(agent: Client) -> str:
        return says(await agent.call_tool("create_monitor", {"url": "http://down.test/"}))

    with Player(service, service.run(open_sandbox(alice.team_id))) as tess:
        assert with_stdio(environment_of(tess), work).startswith("201 test {")
        assert [each["url"] for each in tess.get("/api/monitors").json()["monitors"]] == ["http://down.test/"]
    assert alice.get("/api/monitors").json()["monitors"] == []


def test_each_tool_reaches_its_operation(act: Callable[..., Any]) -> None:
    """An id of nobody gets the 404 of its own operation, and what needs none its success or what it lacks."""

    async def work(agent: Client) -> dict[str, str]:
        ids = dict.fromkeys(("monitor_id", "incident_id", "window_id", "channel_id"), str(uuid4()))
        said = {}
        for tool in (await agent.list_tools()).tools:
            wanted = {name: ids[name] for name in tool.input_schema["required"] if name in ids}
            said[tool.name] = says(await agent.call_tool(tool.name, wanted))[:3]
        return said

    said = act(work)
    assert said.keys() == PURPOSES.keys()
    assert {said[name] for name in said if name.startswith("list_") and name.endswith("s")} <= {"200", "404"}
    assert {said[name] for name in ("get_monitor", "delete_monitor", "get_incident", "unmute_monitor")} == {
        "404"
    }
    assert not {"405", "415", "500"} & set(said.values())


@pytest.mark.parametrize(
    ("tool", "arguments", "method", "path", "sent"),
    [
        ("get_monitor", {"monitor_id": str(uuid4())}, "GET", "/api/monitors/{monitor_id}", {}),
        ("create_monitor", {"url": "gopher://x"}, "POST", "/api/monitors", {"json": {"url": "gopher://x"}}),
        ("create_monitor", {}, "POST", "/api/monitors", {"json": {}}),
        (
            "create_monitor",
            {**MONITOR, "colour": "red"},
            "POST",
            "/api/monitors",
            {"json": {**MONITOR, "colour": "red"}},
        ),
        ("list_monitors", {"limit": 0}, "GET", "/api/monitors?limit=0", {}),
        ("list_monitors", {"colour": "red"}, "GET", "/api/monitors?colour=red", {}),
        ("list_monitors", {"status": ["up", "down"]}, "GET", "/api/monitors?status=up&status=down", {}),
    ],
)
def test_an_error_is_the_services_own(  # noqa: PLR0913, PLR0917 - a row of the table
    alice: Player,
    url: str,
    tool: str,
    arguments: dict[str, Any],
    method: str,
    path: str,
    sent: dict[str, Any],
) -> None:
    said = with_http(url, alice.fetch_token(), lambda agent: agent.call_tool(tool, arguments))
    answered = alice.request(method, path.format_map(arguments), **sent)
    assert answered.status_code >= 400
    assert (says(said), said.is_error) == (f"{answered.status_code} {answered.text}", True)


HOSTILE_IDS = [
    "..",
    ".",
    "../oauth/token",
    "%2e%2e",
    "a/b",
    "x?limit=1#",
    "\r\nX: y",
    "é",
    "",
    "{",
    7,
    None,
    {},
    ["a"],
]


@pytest.mark.parametrize("hostile", HOSTILE_IDS, ids=repr)
def test_an_id_leads_to_no_other_path(alice: Player, url: str, hostile: object) -> None:
    monitor = alice.post("/api/monitors", json=MONITOR).json()

    async def work(agent: Client) -> list[str]:
        tools = ("get_monitor", "delete_monitor", "mute_monitor", "update_monitor")
        return [says(await agent.call_tool(tool, {"monitor_id": hostile})) for tool in tools]

    # What no request line can carry is a 400, and an empty id the 404 or 405 of the list's address.
    assert {said[:4] for said in with_http(url, alice.fetch_token(), work)} <= {"400 ", "404 ", "405 "}
    assert alice.get(f"/api/monitors/{monitor['id']}").json() == monitor


def test_what_makes_no_request_is_told(alice: Player, url: str) -> None:
    async def work(agent: Client) -> None:
        lacking = await agent.call_tool("get_monitor", {})
        assert (says(lacking), lacking.is_error) == ("monitor_id: is required", True)
        with pytest.raises(MCPError, match="Unknown tool"):
            await agent.call_tool("issue_token", {})
        still = await agent.call_tool("list_monitors", {})
        assert not still.is_error

    with_http(url, alice.fetch_token(), work)


@pytest.mark.parametrize("mode", MODES)
def test_who_may_only_read_sees_only_what_reads(bob: Player, url: str, mode: str) -> None:
    async def work(agent: Client) -> None:
        assert await name_tools(agent) == READING
        refused = await agent.call_tool("create_monitor", MONITOR)
        answered = bob.post("/api/monitors", json=MONITOR)
        assert (says(refused), refused.is_error) == (f"403 {answered.text}", True)

    with_http(url, bob.fetch_token(), work, mode)
    with_stdio(environment_of(bob), work, mode)


def test_a_token_can_have_fewer_scopes_than_its_key(alice: Player, url: str) -> None:
    assert with_http(url, alice.fetch_token(), name_tools) == PURPOSES.keys()
    assert with_http(url, alice.fetch_token(scope="monitors:read"), name_tools) == READING


def test_callers_at_once_each_get_what_is_theirs(alice: Player, charlie: Player, url: str) -> None:
    for player, name in ((alice, "Alice's"), (charlie, "Charlie's")):
        player.post("/api/monitors", json={**MONITOR, "name": name}).raise_for_status()

    async def list_names(agent: Client) -> list[str]:
        listed = json.loads(says(await agent.call_tool("list_monitors", {})).removeprefix("200 "))
        return [monitor["name"] for monitor in listed["monitors"]]

    async def work() -> None:
        tokens = alice.fetch_token(), charlie.fetch_token()
        async with bearing(url, tokens[0]) as hers, bearing(url, tokens[1]) as his:
            names = await asyncio.gather(*(list_names(agent) for agent in (hers, his) * 10))
        assert names == [["Alice's"], ["Charlie's"]] * 10

    asyncio.run(work())


def revoke(player: Player, token: str) -> None:
    form = {"client_id": player.client_id, "client_secret": player.client_secret, "token": token}
    httpx.post(f"{player.base_url}/api/oauth/revoke", data=form).raise_for_status()


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "m", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "nobody:nothing", "é" * 9, "e30.e30.", "." * 5000])
def test_nobody_gets_in_without_a_token_that_the_service_accepts(url: str, token: str) -> None:
    headers = httpx.Headers(ACCEPT)
    if token:
        headers = httpx.Headers({**ACCEPT, "Authorization": f"Bearer {token}"}, encoding="utf-8")
    refused = httpx.post(url, json=INITIALIZE, headers=headers)
    assert refused.status_code == 401
    assert refused.headers["WWW-Authenticate"].startswith("Bearer ")


def test_a_revoked_token_is_refused_at_once(alice: Player, url: str) -> None:
    token = alice.fetch_token()
    sent: dict[str, Any] = {"json": INITIALIZE, "headers": {**ACCEPT, "Authorization": f"Bearer {token}"}}
    assert httpx.post(url, **sent).status_code == 200
    revoke(alice, token)
    assert httpx.post(url, **sent).status_code == 401


def test_a_page_of_another_host_is_refused(alice: Player, url: str) -> None:
    headers = {**ACCEPT, "Authorization": f"Bearer {alice.fetch_token()}", "Host": "rebound.example.com"}
    assert httpx.post(url, json=INITIALIZE, headers=headers).status_code == 421


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'{"jsonrpc":"2.0"}', b"[" * 100_000, b"\xff\xfe"]
)
def test_nonsense_is_refused_and_harms_nobody(alice: Player, url: str, body: bytes) -> None:
    token = alice.fetch_token()
    headers = {**ACCEPT, "Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    assert 400 <= httpx.post(url, content=body, headers=headers).status_code < 500
    assert with_http(url, token, name_tools) == PURPOSES.keys()


def test_a_key_whose_token_was_revoked_gets_another(alice: Player) -> None:
    async def work() -> None:
        async with httpx2.AsyncClient() as http_client:
            service = Service(environment_of(alice)["MONITORING_URL"], http_client)
            key = Key(service, alice.client_id, alice.client_secret)
            revoke(alice, (await key.grant()).token)
            async with Client(make_server(service, key)) as agent:
                assert not (await agent.call_tool("list_monitors", {})).is_error

    asyncio.run(work())


def run_mcp(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*MONITORING, "mcp"],
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        input="",
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


@pytest.mark.parametrize("missing", ["MONITORING_URL", "MONITORING_API_KEY"])
def test_the_command_says_what_is_not_set(alice: Player, missing: str) -> None:
    ended = run_mcp({**environment_of(alice), missing: ""})
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith(f"Set {missing} to ")


def test_a_wrong_key_ends_the_command_with_the_services_sentence(alice: Player) -> None:
    ended = run_mcp({**environment_of(alice), "MONITORING_API_KEY": f"{alice.client_id}:wrong"})
    assert ended.returncode == 1
    assert "401" in ended.stderr
    assert "invalid_client" in ended.stderr
    assert "wrong" not in ended.stderr


def test_a_service_that_does_not_answer_is_told(alice: Player) -> None:
    ended = run_mcp({**environment_of(alice), "MONITORING_URL": "http://127.0.0.1:1"})
    assert ended.returncode == 1
    assert ended.stderr.startswith("http://127.0.0.1:1 did not respond")
    assert alice.client_secret not in ended.stderr


def test_the_package_is_an_extra_of_which_the_command_says_that_it_is_missing(alice: Player) -> None:
    without = "import sys; sys.modules['mcp'] = None; from monitoring.cli import main; main()"
    for arguments, status in ((["mcp"], 1), (["mcp", "--help"], 0), (["--help"], 0)):
        ended = subprocess.run(
            [sys.executable, "-c", without, *arguments],
            env=environment_of(alice),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        assert ended.returncode == status
        assert ("monitoring-service[mcp]" in ended.stderr) == (status == 1)
