"""Renders pings as the OpenAPI document's schemas describe them."""

from __future__ import annotations

from typing import Any

from monitoring.backends.pages import Page
from monitoring.contract.cursors import PagedList, next_cursor
from monitoring.contract.timestamps import write_timestamp
from monitoring.monitors.heartbeats.models import Ping


def represent_pings(page: Page[Ping]) -> dict[str, Any]:
    """Render a page of pings as the schema `PingList` describes it."""
    return {
        "pings": [represent_ping(ping) for ping in page.rows],
        "next_cursor": next_cursor(PagedList.PINGS, page.continues_after),
    }


def represent_ping(ping: Ping) -> dict[str, Any]:
    """Render a ping as the schema `Ping` describes it."""
    return {
        "received_at": write_timestamp(ping.received_at),
        "kind": ping.kind,
        "exit_code": ping.exit_code,
        "rid": str(ping.run_id) if ping.run_id else None,
        "method": ping.method,
        "user_agent": ping.user_agent,
        "body": ping.body,
        "is_body_cut": ping.is_body_cut,
    }
