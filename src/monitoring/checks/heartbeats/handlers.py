"""Handlers for the operations that the OpenAPI document tags with Heartbeats.

Responses to pings are like those of Healthchecks, so that Healthchecks clients work.
"""

from __future__ import annotations

from uuid import UUID

from starlette.requests import Request

from monitoring.auth.callers import Caller
from monitoring.auth.limits import client_network, count_request
from monitoring.backends.current import current_backends
from monitoring.checks.heartbeats.pings import MAX_BODY_BYTES, Sent, take_ping
from monitoring.checks.heartbeats.representations import represent_pings
from monitoring.contract.cursors import decode_cursor
from monitoring.contract.problems import Problem
from monitoring.monitors.heartbeats import service
from monitoring.monitors.heartbeats.models import MAX_USER_AGENT_CHARACTERS, PingKind
from monitoring.monitors.heartbeats.tokens import hash_token
from monitoring.web.bodies import Beginning
from monitoring.web.replies import NO_STORE, Reply


async def list_pings(monitor_id: str, *, caller: Caller, limit: int, cursor: str | None = None) -> Reply:
    """Return a page of a monitor's pings."""
    after_id = decode_cursor(cursor)
    return Reply(represent_pings(await service.list_pings(caller.team_id, UUID(monitor_id), limit, after_id)))


async def renew_ping_url(monitor_id: str, caller: Caller) -> Reply:
    """Give a heartbeat a new ping URL, and return the URL."""
    ping_url = await service.renew_ping_url(caller.team_id, UUID(monitor_id), by=caller.actor)
    return Reply({"ping_url": ping_url}, headers=NO_STORE)


_NO_BODY = Beginning(b"", is_cut=False)
_HEADERS = {"Access-Control-Allow-Origin": "*", "Ping-Body-Limit": str(MAX_BODY_BYTES), **NO_STORE}


async def ping_success(token: str, request: Request, rid: str | None = None) -> Reply:
    """Receive a ping that reports the end of a job's run."""
    return await _take(PingKind.SUCCESS, token, request, rid)


async def report_success(token: str, request: Request, body: Beginning, rid: str | None = None) -> Reply:
    """Receive a ping that reports the end of a job's run, with output in its body."""
    return await _take(PingKind.SUCCESS, token, request, rid, body)


async def ping_start(token: str, request: Request, rid: str | None = None) -> Reply:
    """Receive a ping that reports the start of a job's run."""
    return await _take(PingKind.START, token, request, rid)


async def report_start(token: str, request: Request, body: Beginning, rid: str | None = None) -> Reply:
    """Receive a ping that reports the start of a job's run, with output in its body."""
    return await _take(PingKind.START, token, request, rid, body)


async def ping_fail(token: str, request: Request, rid: str | None = None) -> Reply:
    """Receive a ping that reports the failure of a job's run."""
    return await _take(PingKind.FAIL, token, request, rid)


async def report_fail(token: str, request: Request, body: Beginning, rid: str | None = None) -> Reply:
    """Receive a ping that reports the failure of a job's run, with output in its body."""
    return await _take(PingKind.FAIL, token, request, rid, body)


async def ping_log(token: str, request: Request, rid: str | None = None) -> Reply:
    """Receive a ping that is only logged, and says nothing about a run."""
    return await _take(PingKind.LOG, token, request, rid)


async def report_log(token: str, request: Request, body: Beginning, rid: str | None = None) -> Reply:
    """Receive a ping with output that is only logged, and says nothing about a run."""
    return await _take(PingKind.LOG, token, request, rid, body)


async def ping_exit_code(token: str, exit_code: int, request: Request, rid: str | None = None) -> Reply:
    """Receive a ping that reports the end of a job's run by its exit code."""
    kind = PingKind.FAIL if exit_code else PingKind.SUCCESS
    return await _take(kind, token, request, rid, exit_code=exit_code)


async def report_exit_code(
    token: str, exit_code: int, request: Request, body: Beginning, rid: str | None = None
) -> Reply:
    """Receive a ping that reports the end of a job's run by its exit code, with output in its body."""
    kind = PingKind.FAIL if exit_code else PingKind.SUCCESS
    return await _take(kind, token, request, rid, body, exit_code=exit_code)


async def _take(  # noqa: PLR0913 - what a ping has
    kind: PingKind,
    token: str,
    request: Request,
    rid: str | None,
    body: Beginning = _NO_BODY,
    *,
    exit_code: int | None = None,
) -> Reply:
    """Store a ping, then respond.

    The rate limit counts requests by the token's hash, so that the token is not stored in a counter.
    """
    policy, known_as = current_backends().settings.rate_limit_pings, UUID(token)
    await count_request(request, policy, hash_token(known_as))
    sent = Sent(
        kind=kind,
        exit_code=exit_code,
        run_id=UUID(rid) if rid else None,
        method=request.method,
        user_agent=request.headers.get("user-agent", "")[:MAX_USER_AGENT_CHARACTERS] or None,
        body=body.encoded,
        is_body_cut=body.is_cut,
    )
    try:
        await take_ping(known_as, sent)
    except Problem:  # rate-limits wrong tokens: they cannot be guessed, but each attempt queries the database
        await count_request(request, policy, client_network(request))
        raise
    return Reply("OK", headers=_HEADERS, media_type="text/plain")
