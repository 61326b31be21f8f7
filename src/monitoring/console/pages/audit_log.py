"""Settings, audit log: what people did, for owners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.audit.service import list_entries
from monitoring.console.deeds import tell_deed
from monitoring.console.routing import for_owners
from monitoring.contract.cursors import decode_cursor, encode_cursor

if TYPE_CHECKING:
    from starlette.responses import Response

    from monitoring.console.visits import Visit

ENTRIES_A_PAGE = 50


async def show_audit_log(visit: Visit) -> Response:
    """List the entries of the team, newest first, a page at a time."""
    cursor = visit.query.get("cursor")
    page = await list_entries(visit.team.id, ENTRIES_A_PAGE, decode_cursor(cursor) if cursor else None)
    return visit.render(
        "audit/log.html",
        entries=[(entry, tell_deed(entry.action)) for entry in page.rows],
        next_cursor=encode_cursor(page.continues_after) if page.continues_after else None,
    )


ROUTES = (for_owners("/settings/audit-log", get=show_audit_log),)
