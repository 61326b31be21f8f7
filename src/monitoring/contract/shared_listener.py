"""One listening socket for several processes, of which each takes its share of the connections.

The kernel wakes all of them for a connection, and the same one would often be the first. So each writes into
memory that they share how many connections it has, and lets those go first that have fewer.
"""

from __future__ import annotations

import asyncio
import logging
import time
from mmap import mmap
from os import dup
from select import POLLIN, poll
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

TURN_SECONDS = 0.001
TURNS = 5  # that a connection is left to each process with fewer
SILENCE_SECONDS = 0.5  # after which a process is too busy, or dead, and nobody waits for it
PAUSE_SECONDS = 1.0  # when accepting fails, as asyncio does

_NUMBER_BYTES = 8

log = logging.getLogger(__name__)


class Share:
    """What one of several processes knows of the others: how many connections each has, and since when."""

    def __init__(self, descriptor: int, seat: int) -> None:
        self._descriptor, self._seat = descriptor, seat
        table = memoryview(mmap(descriptor, 0)).cast("d")
        self._counts, self._told_at = table[::2], table[1::2]

    @staticmethod
    def for_each_of(processes: int) -> list[Share]:
        """Make the memory that so many processes share, and the view of each, to be sent to it."""
        with TemporaryFile() as file:
            file.truncate(processes * 2 * _NUMBER_BYTES)
            return [Share(dup(file.fileno()), seat) for seat in range(processes)]

    def __reduce__(self) -> tuple[Any, ...]:
        from multiprocessing.reduction import DupFd  # noqa: PLC0415 - a single process shares none

        return _reopen, (DupFd(self._descriptor), self._seat)

    def tell(self, connections: int) -> None:
        """Tell the others how many connections this process has."""
        self._counts[self._seat], self._told_at[self._seat] = connections, time.monotonic()

    def withdraw(self) -> None:
        """Tell the others that this process accepts no more."""
        self._told_at[self._seat] = 0

    def count_lower(self) -> int:
        """Return how many of the others have fewer connections, and are there."""
        own, since = self._counts[self._seat], time.monotonic() - SILENCE_SECONDS
        told = zip(self._counts.tolist(), self._told_at.tolist(), strict=True)
        return sum(count < own and told_at > since for count, told_at in told)


class SharedListener:
    """Accepts on a socket that other processes accept on as well.

    A connection waits for a process with fewer connections only for some milliseconds. So one that is busy,
    stopped or killed keeps nobody from being accepted, and the kernel's queue belongs to those that are left.
    """

    def __init__(self, listener: socket.socket, share: Share) -> None:
        self.sockets = (listener,)
        self._listener, self._share = listener, share
        self._arriving: set[asyncio.Task[Any]] = set()
        self._arrived = poll()
        self._arrived.register(listener, POLLIN)
        self._later: asyncio.TimerHandle | None = None

    def start(self, make_protocol: Callable[[], asyncio.Protocol], count: Callable[[], int]) -> None:
        """Begin to accept. `count` says how many connections there are."""
        self._make_protocol, self._count = make_protocol, count
        self._listener.setblocking(False)  # noqa: FBT003 - its name
        self.tell()
        self._look()

    def tell(self) -> None:
        """Tell the others how many connections there are. To be called several times in `SILENCE_SECONDS`."""
        self._share.tell(self._count() + len(self._arriving))

    def close(self) -> None:
        """Accept no more."""
        self._share.withdraw()
        if self._later:
            self._later.cancel()
        asyncio.get_running_loop().remove_reader(self._listener)
        self._listener.close()

    async def wait_closed(self) -> None:
        """Do nothing: `close` has closed it."""

    def _look(self) -> None:
        asyncio.get_running_loop().add_reader(self._listener, self._find_connection)

    def _find_connection(self) -> None:
        """Take the connection that has arrived, or leave it to those with fewer for a while."""
        self.tell()
        if lower := self._share.count_lower():
            asyncio.get_running_loop().remove_reader(self._listener)
            self._look_again(lower * TURNS)
        else:
            self._accept()

    def _look_again(self, turns: int) -> None:
        self._later = asyncio.get_running_loop().call_later(TURN_SECONDS, self._end_turn, turns - 1)

    def _end_turn(self, turns: int) -> None:
        self.tell()
        if not self._arrived.poll(0):
            self._look()
        elif turns and self._share.count_lower():
            self._look_again(turns)
        elif self._accept():
            self._look()

    def _accept(self) -> bool:
        """Take a connection, if nobody else has. Return False if that will be tried later."""
        loop = asyncio.get_running_loop()
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return True
        except OSError:  # there are too many open files, or too little memory
            log.exception("No connection can be accepted: it is tried again in %g seconds", PAUSE_SECONDS)
            loop.remove_reader(self._listener)
            self._later = loop.call_later(PAUSE_SECONDS, self._look)
            return False
        connection.setblocking(False)  # noqa: FBT003 - its name
        task = loop.create_task(loop.connect_accepted_socket(self._make_protocol, connection))
        self._arriving.add(task)
        task.add_done_callback(self._arriving.discard)
        self.tell()
        return True


def _reopen(descriptor: Any, seat: int) -> Share:  # noqa: ANN401 - multiprocessing does not name its type
    return Share(descriptor.detach(), seat)
