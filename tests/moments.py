"""Moments for rows that are due or over at once."""

from datetime import UTC, datetime, timedelta


def a_second_ago() -> datetime:
    """Return a time that is past by the service's clock too.

    That clock is the database's. Between two readings it is carried on, and may be milliseconds behind
    this one.
    """
    return datetime.now(UTC) - timedelta(seconds=1)
