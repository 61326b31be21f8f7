"""A sandbox's monitors are checked by the script, every five seconds, and nothing leaves the process."""

from __future__ import annotations

import socket
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from monitoring.auth.sandboxes import note_use, open_sandbox
from monitoring.auth.service import create_team
from monitoring.backends.current import current_backends
from monitoring.checks.claims import claim_due
from monitoring.checks.prober import open_prober, try_configuration
from monitoring.checks.probes.heartbeat import MISSING_PING
from monitoring.checks.probes.protocol import Objection
from monitoring.checks.storing import Checked, store
from monitoring.monitors.contracts.preparing import prepare_contract
from monitoring.monitors.models import CheckState
from monitoring.monitors.service import create_monitor
from monitoring.outbound.failures import FailureCode
from monitoring.outbound.scripted_hosts import ROLES, find_part
from temporary_backends import temporary_backends

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path
    from uuid import UUID

pytestmark = pytest.mark.anyio

# By the schemes of their addresses. Those of other types are named like them.
TYPES = {"https": "http", "tls": "certificate"}

CONTRACT = {"document_url": "https://contract.test/openapi.json", "operation_id": "say"}

# What a monitor finds: its error, None if it is up.
FOUND: list[tuple[str, dict[str, Any], str | None]] = [
    ("http://up.test", {}, None),
    ("https://up.test:8443/any/path?and=query", {"method": "HEAD"}, None),
    ("http://up.test", {"required_keyword": "up"}, None),
    ("http://down.test", {}, "connection_refused"),
    ("http://status-503.test", {}, "unexpected_status"),
    ("http://status-204.test", {"expected_status_codes": ["204"]}, None),
    ("http://slow-60ms.test", {"slow_threshold_ms": 50}, "slow"),
    ("http://timeout.test", {"timeout_seconds": 1}, "timeout"),
    ("http://slow-9000ms.test", {"timeout_seconds": 1}, "timeout"),
    ("http://closing.test", {}, "connection_failed"),
    ("http://receiver.test", {}, "unexpected_status"),
    ("http://says-sold-out.test", {"forbidden_keyword": "sold-out"}, "keyword_forbidden"),
    ("http://says-sold-out.test", {"required_keyword": "in stock"}, "keyword_missing"),
    (
        "http://says-hello.test",
        {
            "assertions": [
                {"source": "json", "path": "$.says", "comparison": "equals", "value": "hello"},
                {"source": "header", "name": "Content-Type", "comparison": "contains", "value": "json"},
            ]
        },
        None,
    ),
    (
        "http://slow-60ms.test",
        {"assertions": [{"source": "first_byte_ms", "comparison": "less_than", "value": 50}]},
        "assertion_failed",
    ),
    ("http://moved.test", {}, None),
    ("http://moved.test", {"follow_redirects": False}, "unexpected_status"),
    ("http://loop.test", {}, "too_many_redirects"),
    ("https://contract.test/word", {"contract": CONTRACT}, None),
    ("https://broken-contract.test/word", {"contract": CONTRACT}, "contract_violated"),
    ("http://garbled.test", {}, "invalid_response"),
    ("http://huge.test", {"required_keyword": "small"}, "response_too_large"),
    ("http://expired-certificate.test", {}, None),
    ("https://expired-certificate.test", {}, "tls_invalid"),
    ("https://expired-certificate.test", {"verify_tls": False, "tls_expiry_warning_days": 0}, None),
    ("https://untrusted-certificate.test", {}, "tls_invalid"),
    ("https://wrong-certificate.test", {}, "tls_invalid"),
    ("https://expiring-certificate.test", {}, "tls_expiring"),
    ("http://dns-failure.test", {}, "dns_failure"),
    ("http://private.test", {}, "blocked_address"),
    ("https://shop.example.com", {}, "dns_failure"),
    ("http://127.0.0.1", {}, "blocked_address"),
    ("http://192.0.2.1", {}, "blocked_address"),
    ("tcp://up.test:5432", {}, None),
    ("tcp://says-ready.test:25", {"tcp": {"expect": "ready"}}, None),
    ("tcp://says-ready.test:25", {"tcp": {"expect": "220"}}, "keyword_missing"),
    ("tcp://down.test:5432", {}, "connection_refused"),
    ("tcp://slow-60ms.test:5432", {"slow_threshold_ms": 50}, "slow"),
    ("tcp://expired-certificate.test:465", {"tcp": {"tls": True}}, "tls_invalid"),
    ("dns://up.test", {}, None),
    ("dns://says-hello.test", {"dns": {"record_type": "TXT", "expected": ["hello"]}}, None),
    ("dns://up.test", {"dns": {"record_type": "MX", "expected": ["10 other.test."]}}, "unexpected_records"),
    ("dns://dns-failure.test", {}, "dns_failure"),
    ("dns://timeout.test", {"timeout_seconds": 1}, "timeout"),
    ("tls://up.test:443", {"certificate": {"names": ["up.test"]}}, None),
    ("tls://up.test:443", {"certificate": {"names": ["shop.test"]}}, "tls_invalid"),
    ("tls://up.test:25", {"certificate": {"starttls": "smtp"}}, None),
    ("tls://expired-certificate.test:443", {}, "tls_invalid"),
    ("tls://expiring-certificate.test:443", {}, "tls_expiring"),
    ("ping://up.test", {}, None),
    ("ping://up.test", {"ping": {"ip_version": 6}}, None),
    ("ping://down.test", {}, "connection_failed"),
    ("ping://slow-60ms.test", {"slow_threshold_ms": 50}, "slow"),
    ("ping://timeout.test", {"timeout_seconds": 1}, "timeout"),
]


def configure(url: str, fields: dict[str, Any]) -> dict[str, Any]:
    scheme = url.partition(":")[0]
    return {"type": TYPES.get(scheme, scheme), "url": url, **fields}


@pytest.fixture
async def sandbox_id(tmp_path: Path) -> AsyncIterator[UUID]:
    async with temporary_backends(tmp_path):
        team = await create_team("Acme", "free", 100)
        yield (await open_sandbox(team.id)).id


@pytest.mark.parametrize(("url", "fields", "error"), FOUND)
async def test_a_host_behaves_as_its_role_says(
    sandbox_id: UUID, url: str, fields: dict[str, Any], error: str | None
) -> None:
    given = await prepare_contract(sandbox_id, configure(url, fields))
    finding = await try_configuration(sandbox_id, given)
    assert finding.error == error, finding.message


def test_every_error_of_a_check_can_be_played() -> None:
    others = {"assertion_failed", "contract_violated"}
    of_jobs = {*MISSING_PING, Objection.JOB_FAILED}
    every = {*map(str, FailureCode), *map(str, Objection), *others} - of_jobs
    assert {error for _, _, error in FOUND if error} == every


def test_every_role_is_played() -> None:
    played = [url.partition("://")[2].partition("/")[0].partition(":")[0] for url, _, _ in FOUND]
    unplayed = [each.example for each in ROLES if not any(each.name.fullmatch(host) for host in played)]
    assert unplayed == ["flaky.test"]


def test_a_flaky_host_is_down_in_the_first_half_of_each_minute() -> None:
    minute = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
    doors = [find_part("flaky.test", minute + timedelta(seconds=second)) for second in (0, 29, 30, 59)]
    assert [each and each.door.name for each in doors] == ["SHUT", "SHUT", "OPEN", "OPEN"]


async def test_a_monitor_is_due_again_after_five_seconds_whatever_its_interval(sandbox_id: UUID) -> None:
    monitor = await create_monitor(sandbox_id, {"url": "http://up.test", "interval_seconds": 3600})
    clock = current_backends().clock
    [claimed] = await claim_due(clock.now() + timedelta(seconds=1), 10)
    assert (claimed.monitor_id, claimed.is_sandbox) == (monitor.id, True)
    async with open_prober(current_backends().settings) as prober:
        checked_at = clock.now()
        await store([Checked(claimed, checked_at, await prober.probe(claimed))], checked_at)
    state = await CheckState.get(monitor_id=monitor.id)
    assert state.due_at
    assert checked_at < state.due_at <= checked_at + timedelta(seconds=5)


async def test_a_sandbox_that_nobody_uses_is_checked_as_seldom_as_others(sandbox_id: UUID) -> None:
    await create_monitor(sandbox_id, {"url": "http://up.test", "interval_seconds": 3600})
    await create_monitor(sandbox_id, {"url": "http://up.test", "interval_seconds": 3600})
    now = current_backends().clock.now() + timedelta(seconds=1)
    await note_use(sandbox_id, now - timedelta(minutes=61))
    [unused] = await claim_due(now, 1)
    await note_use(sandbox_id, now - timedelta(minutes=59))
    [used] = await claim_due(now, 1)
    assert [each.interval_seconds for each in (unused, used)] == [3600, 5]


async def test_a_live_monitor_is_not_played_to(sandbox_id: UUID) -> None:
    live = await create_team("Other", "free", 10)
    await create_monitor(live.id, {"url": "http://up.test"})
    await create_monitor(sandbox_id, {"url": "http://up.test"})
    claimed = await claim_due(current_backends().clock.now() + timedelta(seconds=1), 10)
    assert {each.subject.team_id: each.is_sandbox for each in claimed} == {live.id: False, sandbox_id: True}
    assert {each.subject.team_id: each.interval_seconds for each in claimed} == {live.id: 300, sandbox_id: 5}


async def test_no_socket_is_opened(sandbox_id: UUID, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    ours, connect = threading.get_ident(), socket.socket.connect

    def refuse(connecting: socket.socket, *address: Any) -> None:
        if threading.get_ident() != ours:  # the service of other tests, which sends mail
            return connect(connecting, *address)
        opened.append(address)
        raise OSError

    async with open_prober(current_backends().settings):  # c-ares opens one to itself
        monkeypatch.setattr(socket.socket, "connect", refuse)
        monkeypatch.setattr(socket.socket, "connect_ex", refuse)
        for url, fields, error in FOUND:
            finding = await try_configuration(sandbox_id, configure(url, fields | {"timeout_seconds": 1}))
            assert finding.error == error
    assert not opened
