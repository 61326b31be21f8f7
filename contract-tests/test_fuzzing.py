"""Fuzzes the running service with Schemathesis, with each kind of credentials and without credentials."""

from __future__ import annotations

import socket
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import httpx
import pytest

from cast import form_team
from fuzzing import (
    FULL_KEY,
    IS_WHOLE,
    ROLES,
    TEST_KEY,
    Role,
    credentials_of,
    fuzz,
    fuzzed_service,
    sandboxed_service,
)
from monitoring.monitors.service import create_monitor
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from running_service import RunningService

pytestmark = pytest.mark.long(seconds=40)
OTHER_ROLE = pytest.mark.night("the full key reaches more of the service")
ONCE = pytest.mark.embedded("what a role must not do is refused above the backends")


def marks_of(role: Role) -> list[pytest.MarkDecorator]:
    if role == FULL_KEY:
        return [pytest.mark.long(seconds=240)]
    return [OTHER_ROLE] if IS_WHOLE else [OTHER_ROLE, ONCE]


@pytest.mark.parametrize(
    "role",
    [pytest.param(role, id=role.name, marks=marks_of(role)) for role in ROLES if role != TEST_KEY],
)
def test_the_service_keeps_every_promise_of_the_document(role: Role, tmp_path: Path) -> None:
    with fuzzed_service(tmp_path) as service:
        fuzz(service, role, credentials_of(service, role))


class Listeners(NamedTuple):
    """The sockets of a fake name server and a fake host. The kernel queues whatever is sent to them."""

    names: socket.socket
    hosts: socket.socket

    @property
    def heard(self) -> list[str]:
        """Return which of the sockets have received something since the last call."""
        asked = []
        for name, ask in (("names", lambda: self.names.recv(512)), ("hosts", self.hosts.accept)):
            try:
                ask()
            except BlockingIOError:
                continue
            asked.append(name)
        return asked


@contextmanager
def listening() -> Iterator[Listeners]:
    with socket.socket(type=socket.SOCK_DGRAM) as names, socket.create_server(("127.0.0.1", 0)) as hosts:
        names.bind(("127.0.0.1", 0))
        names.setblocking(False)  # noqa: FBT003
        hosts.setblocking(False)  # noqa: FBT003
        yield Listeners(names, hosts)


def watch(client: httpx.Client, **given: str) -> str:
    created = client.post("/api/monitors", json=given)
    assert created.status_code == 201, created.text
    monitor_id: str = created.json()["id"]
    return monitor_id


def is_checked(client: httpx.Client, monitor_id: str) -> bool:
    return client.get(f"/api/monitors/{monitor_id}").json()["last_checked_at"] is not None


class Sandbox(NamedTuple):
    """A service that makes checks and sends notifications, and a test key. A listener is its name server."""

    service: RunningService
    credentials: dict[str, str]
    server: str


@pytest.fixture
def listeners() -> Iterator[Listeners]:
    with listening() as listeners:
        yield listeners


@pytest.fixture
def sandbox(listeners: Listeners, tmp_path: Path) -> Iterator[Sandbox]:
    name_server, server = ("{}:{}".format(*each.getsockname()) for each in listeners)
    with sandboxed_service(tmp_path, dns_servers=(name_server,)) as service:
        yield Sandbox(service, credentials_of(service, TEST_KEY), server)


def use_addresses_of_listeners(sandbox: Sandbox) -> None:
    """Check monitors of all types and test a channel, all of which have the listeners' addresses."""
    bearer = {"Authorization": f"Bearer {sandbox.credentials['MONITORING_TOKEN']}"}
    with httpx.Client(base_url=sandbox.service.base_url, headers=bearer, timeout=30) as tess:
        watched = [
            watch(tess, type=kind, url=f"{scheme}://{host}")
            for host in (sandbox.server, "shop.example.com:80")
            for kind, scheme in (("http", "http"), ("tcp", "tcp"), ("certificate", "tls"))
        ]
        watched.append(watch(tess, type="dns", url="dns://shop.example.com"))
        hook = {"type": "webhook", "url": f"http://{sandbox.server}/hooks"}
        channel_id = tess.post("/api/notification-channels", json=hook).json()["id"]
        tested = tess.post(f"/api/notification-channels/{channel_id}/test")
        assert tested.json()["status"] == "delivered"
        wait_until(lambda: all(is_checked(tess, each) for each in watched))


def demand_silence(sandbox: Sandbox, listeners: Listeners) -> None:
    """Assert that the listeners received nothing, and that they do receive a live monitor's check."""
    assert listeners.heard == []
    team = form_team(sandbox.service)
    sandbox.service.run(create_monitor(team.id, {"url": "http://shop.example.com/"}))
    wait_until(lambda: listeners.heard)


@ONCE
def test_what_a_test_key_watches_and_notifies_reaches_nobody(sandbox: Sandbox, listeners: Listeners) -> None:
    use_addresses_of_listeners(sandbox)
    demand_silence(sandbox, listeners)


@ONCE
@OTHER_ROLE
@pytest.mark.long(seconds=60)
def test_a_fuzzed_test_key_finds_nothing_and_reaches_nobody(sandbox: Sandbox, listeners: Listeners) -> None:
    """Monitors and channels have the listeners' addresses, or URLs that Schemathesis generates."""
    use_addresses_of_listeners(sandbox)
    fuzz(sandbox.service, TEST_KEY, sandbox.credentials, "--exclude-operation-id", "reset_sandbox")
    demand_silence(sandbox, listeners)
