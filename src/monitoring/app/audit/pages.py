"""The settings page of the audit log, which shows owners the actions of people and programs."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.responses import Response, StreamingResponse

from monitoring.app.audit.labels import KINDS, describe_action, name_field
from monitoring.app.audit.log_filter import ACTORS, FilterForm, read_filter
from monitoring.app.csv_files import write_rows
from monitoring.app.rendering import PAGE_HEADERS
from monitoring.app.routing import for_owners
from monitoring.app.visits import Visit
from monitoring.audit.actors import KEY_PREFIX
from monitoring.audit.filters import EntryFilter
from monitoring.audit.models import AuditEntry
from monitoring.audit.service import list_entries
from monitoring.auth.service import list_keys
from monitoring.contract.cursors import PagedList, next_cursor
from monitoring.members.service import list_members

PATH = "/settings/audit-log"
ENTRIES_A_PAGE = 50

# The most entries in a downloaded file. A file with this many entries takes up a few megabytes.
ENTRIES_A_FILE = 10_000
ENTRIES_AT_ONCE = 500
_FILE_HEAD = ("happened_at", "actor", "address", "action", "in words", "subject", "subject_id", "changes")


async def show_audit_log(visit: Visit) -> Response:
    """List one page of the entries that match the filter, newest first."""
    sought = read_filter(visit.query, visit.zone)
    if sought.errors:
        return await _render(visit, sought, 400, entries=[], next_cursor=None)
    page = await list_entries(visit.team.id, ENTRIES_A_PAGE, visit.after_id, sought.wanted)
    return await _render(
        visit,
        sought,
        entries=[(entry, describe_action(entry.action, entry.subject)) for entry in page.rows],
        next_cursor=next_cursor(PagedList.AUDIT_ENTRIES, page.continues_after),
    )


async def download_audit_log(visit: Visit) -> Response:
    """Return the newest `ENTRIES_A_FILE` entries that match the filter, as CSV."""
    sought = read_filter(visit.query, visit.zone)
    if sought.errors:
        return await _render(visit, sought, 400, entries=[], next_cursor=None)
    as_file = {"Content-Disposition": f'attachment; filename="audit-log-{visit.now:%Y-%m-%d}.csv"'}
    pieces = _write_entries(visit, sought.wanted)
    return StreamingResponse(pieces, headers=PAGE_HEADERS | as_file, media_type="text/csv")


async def _write_entries(visit: Visit, wanted: EntryFilter) -> AsyncIterator[bytes]:
    yield write_rows([_FILE_HEAD]).encode("utf-8-sig")  # the byte order mark lets Excel detect UTF-8
    after_id = None
    for _ in range(ENTRIES_A_FILE // ENTRIES_AT_ONCE):
        async with visit.take_turn():
            page = await list_entries(visit.team.id, ENTRIES_AT_ONCE, after_id, wanted)
            piece = write_rows(map(_cells_of, page.rows)).encode()
        yield piece
        after_id = page.continues_after
        if after_id is None:
            return


def _cells_of(entry: AuditEntry) -> tuple[object, ...]:
    changes = [f"{name}: {old or '(empty)'} → {new or '(empty)'}" for name, old, new in entry.changes or ()]
    return (
        entry.happened_at,
        entry.actor,
        entry.address,
        entry.action,
        describe_action(entry.action, entry.subject),
        entry.subject,
        entry.subject_id,
        "; ".join(changes),
    )


async def _render(visit: Visit, sought: FilterForm, status: int = 200, **context: object) -> Response:
    members = await list_members(visit.team.id)
    keys = await list_keys(visit.team.id)
    return visit.render(
        "audit/log.html",
        status,
        sought=sought,
        kinds=list(KINDS.items()),
        actors=list(ACTORS.items()),
        known_actors=[each.email for each in members] + sorted({f"{KEY_PREFIX}{key.name}" for key in keys}),
        name_field=name_field,
        most_in_file=ENTRIES_A_FILE,
        **context,
    )


ROUTES = (
    for_owners(PATH, get=show_audit_log),
    for_owners(f"{PATH}.csv", get=download_audit_log),
)
