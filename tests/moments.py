"""Times for rows that must already be due or over."""

from datetime import UTC, datetime, timedelta


def a_second_ago() -> datetime:
    """Return a time that is also in the past according to the service's clock.

    That clock follows the database's clock. Between two readings of the database's clock, it may be
    milliseconds behind this process's clock.
    """
    return datetime.now(UTC) - timedelta(seconds=1)
