"""The uptime of many monitors at once, as a list shows it and is ordered by it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from tortoise.backends.base.client import BaseDBAsyncClient

from monitoring.backends.current import current_backends
from monitoring.backends.fields import read_id, read_moment
from monitoring.backends.rowsets import id_rowset, pack_ids
from monitoring.backends.statements import is_postgres, spell
from monitoring.history.timeline import Window, measure
from monitoring.monitors.health import State, StateChange

# Of a monitor that was only up, or only down.
_RATIOS = {State.UP: 1.0, State.DOWN: 0.0}

# A monitor's status changes whenever it goes up or down, so an old one tells more quickly than changes do.
_UP_ALL_THE_TIME = """
    SELECT given.id FROM {given} JOIN monitors ON monitors.id = given.id
    JOIN watches ON watches.monitor_id = given.id
    WHERE monitors.status IN ('up', 'degraded') AND monitors.status_changed_at <= $2
        AND watches.seen_until > $2
"""

# The changes within the range, and the one before it.
_CHANGES = """
    SELECT given.id, changes.changed_at, changes.state, watches.seen_until
    FROM {given} JOIN watches ON watches.monitor_id = given.id
    JOIN state_changes AS changes ON changes.monitor_id = given.id AND changes.changed_at >=
        coalesce((SELECT max(changed_at) FROM state_changes AS earlier
            WHERE earlier.monitor_id = given.id AND earlier.changed_at <= $2), $2)
    WHERE changes.changed_at < $3
    ORDER BY changes.changed_at
"""
_SPANS = """
    SELECT given.id, spans.starts_at, spans.ends_at
    FROM {given} JOIN maintenance_spans AS spans ON spans.monitor_id = given.id
    WHERE spans.ends_at > $2 AND spans.starts_at < $3
    ORDER BY spans.starts_at
"""


async def measure_ratios(
    monitor_ids: Collection[UUID], start: datetime, end: datetime
) -> dict[UUID, float | None]:
    """Return the `uptime_ratio` of monitors in a range that ends now or earlier, in up to three statements.

    The changes of all that were not up all the time are in memory at once, so a range should not be much
    longer than a day.
    """
    connection = current_backends().database.context.db()
    first, last = (start, end) if is_postgres(connection) else (str(start), str(end))
    always_up = {read_id(id_) for (id_,) in await _read(connection, _UP_ALL_THE_TIME, monitor_ids, first)}
    others = [id_ for id_ in monitor_ids if id_ not in always_up]
    spans: defaultdict[UUID, list[Window]] = defaultdict(list)
    for id_, starts_at, ends_at in await _read(connection, _SPANS, others, first, last):
        spans[read_id(id_)].append((read_moment(starts_at), read_moment(ends_at)))
    histories: defaultdict[UUID, list[StateChange]] = defaultdict(list)
    seen: dict[UUID, datetime | None] = {}
    for id_, changed_at, state, seen_until in await _read(connection, _CHANGES, others, first, last):
        monitor_id = read_id(id_)
        histories[monitor_id].append(StateChange(read_moment(changed_at), State(state)))
        seen[monitor_id] = read_moment(seen_until)
    ratios: dict[UUID, float | None] = dict.fromkeys(monitor_ids)
    ratios |= dict.fromkeys(always_up, 1.0)
    for id_, history in histories.items():
        ratios[id_] = _measure(history, (start, end), seen[id_], spans.get(id_, ()))
    return ratios


def _measure(
    history: Sequence[StateChange], window: Window, seen_until: datetime | None, spans: Sequence[Window]
) -> float | None:
    *earlier, last = history
    lasts = seen_until is None or seen_until > max(last.changed_at, window[0])
    states = {state for _, state in (history if lasts else earlier)} & _RATIOS.keys()
    if spans or states == _RATIOS.keys():
        return measure(history, [window], seen_until, spans)[0].uptime_ratio
    # Most monitors are only up, or only down, and a list may have thousands.
    return _RATIOS[states.pop()] if states else None


async def _read(
    connection: BaseDBAsyncClient, sql: str, monitor_ids: Collection[UUID], *moments: object
) -> Sequence[Any]:
    if not monitor_ids:
        return ()
    statement = spell(connection, sql.format(given=id_rowset(connection)))
    _, rows = await connection.execute_query(statement, [pack_ids(connection, monitor_ids), *moments])
    return rows
