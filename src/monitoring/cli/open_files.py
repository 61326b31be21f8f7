"""A process's limit on open files and sockets, and the part of it that each kind of connection may use."""

from __future__ import annotations

import resource

# Checks use at most half of the open files (monitoring.outbound.dialer). Clients may use a quarter of all
# files, and the clients of one network a quarter of that quarter. Connections that wait to be accepted may
# use an eighth of all files. The rest is for the backends.
CLIENTS_PART = 4
BACKLOG_PART = 8
ADDRESS_PART = 4

MOST_OPEN_FILES = 65_536
MOST_BACKLOG = 2048


def raise_limit_of_open_files() -> None:
    """Raise the limit on open files as far as permitted, up to MOST_OPEN_FILES. Children inherit it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < highest:
        resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))


def affordable_clients() -> int:
    """Return the maximum number of a process's connections with clients."""
    return _limit() // CLIENTS_PART


def affordable_backlog() -> int:
    """Return the listen backlog: how many connections may wait to be accepted.

    A server accepts all waiting connections at once, so the backlog also limits how many sockets it opens at
    once.
    """
    return min(MOST_BACKLOG, _limit() // BACKLOG_PART)


def _limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_OPEN_FILES if soft == resource.RLIM_INFINITY else soft
