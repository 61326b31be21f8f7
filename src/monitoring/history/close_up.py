"""A monitor's checks of a few hours in windows of minutes, which the database adds up from single results."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from monitoring.backends.current import current_backends
from monitoring.backends.statements import is_postgres, spell
from monitoring.history.phases import read_sums
from monitoring.history.results import spell_row
from monitoring.history.retention import oldest_result_kept
from monitoring.history.tallies import Summary
from monitoring.history.timeline import Window, ceil, divide, floor
from monitoring.monitors.health import Outcome
from monitoring.monitors.models import Monitor

# More than a phone can show apart. A day has as many quarters of an hour.
MAX_WINDOWS = 96

LENGTHS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15))

# Windows are numbered from 1970 on. A percentile is the nearest rank among a window's answers, as it is in
# `Latencies`.
_MEASURE = f"""
    WITH counted AS (
        SELECT {{epoch}} / {{seconds}} AS number,
            outcome, dns_ms, connect_ms, tls_ms, first_byte_ms, response_time_ms,
            outcome <> '{Outcome.DOWN}' AND response_time_ms IS NOT NULL AS is_answer
        FROM checks
        WHERE monitor_id = $1 AND checked_at >= $2 AND checked_at < $3 AND outcome <> '{Outcome.UNKNOWN}'
    ),
    ranked AS (
        SELECT *, is_answer AND first_byte_ms IS NOT NULL AS has_phases,
            count(*) OVER (PARTITION BY number, is_answer) AS answer_count,
            row_number() OVER (PARTITION BY number, is_answer ORDER BY response_time_ms) AS place
        FROM counted
    )
    SELECT number, count(*), count(*) FILTER (WHERE outcome = '{Outcome.DOWN}'),
        max(response_time_ms) FILTER (WHERE is_answer AND 100 * (place - 1) < 50 * answer_count),
        max(response_time_ms) FILTER (WHERE is_answer AND 100 * (place - 1) < 95 * answer_count),
        count(*) FILTER (WHERE has_phases),
        sum(coalesce(dns_ms, 0)) FILTER (WHERE has_phases),
        sum(coalesce(connect_ms, 0)) FILTER (WHERE has_phases),
        sum(coalesce(tls_ms, 0)) FILTER (WHERE has_phases),
        sum(first_byte_ms) FILTER (WHERE has_phases),
        sum(response_time_ms) FILTER (WHERE has_phases)
    FROM ranked GROUP BY number
"""  # noqa: S608 - names of our own

_POSTGRES_EPOCH = "CAST(floor(extract(epoch FROM checked_at)) AS bigint)"
# SQLite would round the fraction of a second, so it is cut off before.
_SQLITE_EPOCH = "CAST(strftime('%s', substr(checked_at, 1, 19)) AS integer)"


async def measure_closely(
    monitor: Monitor, start: datetime, end: datetime, now: datetime
) -> list[tuple[Window, Summary]]:
    """Measure windows of 1, 5 or 15 minutes: the shortest of which there are not too many.

    No window is shorter than the time between checks. The range is rounded outwards. The list is empty where
    only hours can tell: the range is longer than a day, checks are rarer, or results are no longer kept.
    """
    length = choose_length(end - start, timedelta(seconds=monitor.interval_seconds))
    if length is None or start < oldest_result_kept(now, current_backends().settings):
        return []
    start, end = floor(start, length), ceil(end, length)
    connection = current_backends().database.context.db()
    epoch = _POSTGRES_EPOCH if is_postgres(connection) else _SQLITE_EPOCH
    seconds = length // timedelta(seconds=1)
    sql = _MEASURE.format(epoch=epoch, seconds=seconds)
    values = spell_row(connection, (monitor.id, start, end))
    _, rows = await connection.execute_query(spell(connection, sql), values)
    found = {
        datetime.fromtimestamp(number * seconds, UTC): Summary(
            check_count, failed_check_count, p50_ms, p95_ms, read_sums(*sums)
        )
        for number, check_count, failed_check_count, p50_ms, p95_ms, *sums in rows
    }
    return [(window, found.get(window[0], Summary())) for window in divide(start, end, length)]


def choose_length(span: timedelta, interval: timedelta) -> timedelta | None:
    """Return how long windows should be; None if they had to be longer than a quarter of an hour."""
    return next((each for each in LENGTHS if each >= interval and span <= MAX_WINDOWS * each), None)
