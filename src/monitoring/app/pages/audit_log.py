"""Settings, audit log: what people did, for owners."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.app.audit_words import describe_action
from monitoring.app.routing import for_owners
from monitoring.audit.service import list_entries
from monitoring.contract.cursors import encode_cursor

if TYPE_CHECKING:
    from starlette.responses import Response

    from monitoring.app.visits import Visit

ENTRIES_A_PAGE = 50


async def show_audit_log(visit: Visit) -> Response:
    """List the entries of the team, newest first, a page at a time."""
    page = await list_entries(visit.team.id, ENTRIES_A_PAGE, visit.after_id)
    return visit.render(
        "audit/log.html",
        entries=[(entry, describe_action(entry.action)) for entry in page.rows],
        next_cursor=encode_cursor(page.continues_after) if page.continues_after else None,
    )


ROUTES = (for_owners("/settings/audit-log", get=show_audit_log),)
