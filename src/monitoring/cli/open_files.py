"""A process's limit of open files and sockets, and how many of them each use may have."""

from __future__ import annotations

import resource

# Checks use at most half of the open files (monitoring.outbound.dialer). Clients may use a quarter of them,
# and a single address a quarter of that. Clients that wait to be accepted may use an eighth of all files. The
# rest is for the backends.
CLIENTS_PART = 4
BACKLOG_PART = 8
ADDRESS_PART = 4

MOST_OPEN_FILES = 65_536
MOST_BACKLOG = 2048


def raise_limit_of_open_files() -> None:
    """Raise the limit of open files as far as permitted, up to MOST_OPEN_FILES. Children inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < highest:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))


def affordable_clients() -> int:
    """Return the maximum number of a process's connections with clients."""
    return _limit() // CLIENTS_PART


def affordable_backlog() -> int:
    """Return the listen backlog, which limits new sockets: waiting connections are accepted all at once."""
    return min(MOST_BACKLOG, _limit() // BACKLOG_PART)


def _limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_OPEN_FILES if soft == resource.RLIM_INFINITY else soft
