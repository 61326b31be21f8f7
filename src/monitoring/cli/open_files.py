"""The limit of open files and sockets of a process, and how it is divided."""

from __future__ import annotations

import resource

# Checks take at most half of them (monitoring.outbound.dialer). Clients get a quarter, of which one address
# may have a quarter, and clients that wait to be accepted an eighth. The rest is for the backends.
CLIENTS_PART = 4
BACKLOG_PART = 8
ADDRESS_PART = 4

MOST_OPEN_FILES = 65_536
MOST_BACKLOG = 2048


def raise_limit_of_open_files() -> None:
    """Raise the limit to the highest that this process may have. Its children inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < highest:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))


def affordable_clients() -> int:
    """Return how many connections of clients a process may have."""
    return _limit() // CLIENTS_PART


def affordable_backlog() -> int:
    """Return the listen backlog. Waiting connections are accepted all at once, so it bounds new sockets."""
    return min(MOST_BACKLOG, _limit() // BACKLOG_PART)


def _limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_OPEN_FILES if soft == resource.RLIM_INFINITY else soft
