"""Validates channel URLs when a client sets them. The IP address is validated again at every connection."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from monitoring.auth.sandboxes import is_sandbox
from monitoring.backends.current import current_backends
from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.outbound.reachability import may_be_reached


async def demand_reachable(team_id: UUID, given: Mapping[str, Json]) -> None:
    """Raise Problem if the URL of a new or changed channel leads to an IP address that is not permitted.

    This may query DNS, so call it outside transactions. In a sandbox, any URL is permitted, because a sandbox
    never connects to it.
    """
    url = given.get("url")
    if not url or await is_sandbox(team_id):
        return
    if not await may_be_reached(url, current_backends().settings):
        raise Problem("notification_channel_target_refused")
