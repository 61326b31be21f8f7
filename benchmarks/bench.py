"""Shared code of all scenarios: the backends, the client, and the measurement of one sample."""

from __future__ import annotations

import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from load import LoadClient, running_client
from postgres_and_redis import Backends, running_backends
from processor_time import cpu_seconds
from rounds import Sample
from servers import BUILD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from load import Load
    from servers import Server


IDLE_SECONDS = 0.02
IDLE_TIMEOUT_SECONDS = 5.0


@dataclass(frozen=True)
class Effort:
    """How much to measure: the number of rounds, their length, and the sizes of large tables.

    Many short rounds give better results than few long ones, because noise rarely affects a long round
    evenly.
    """

    rounds: int
    seconds: float
    monitors: int
    results: int


FULL = Effort(rounds=21, seconds=0.5, monitors=1_000_000, results=100_000_000)
QUICK = Effort(rounds=5, seconds=0.25, monitors=50_000, results=10_000_000)


@dataclass(frozen=True)
class Bench:
    """The servers, client and settings of one run."""

    backends: Backends
    client: LoadClient
    effort: Effort
    folder: Path

    def make_folder(self) -> Path:
        """Make a folder for files that servers write. The folder stays until the run ends.

        After files are deleted, ext4 examines each of them for minutes before it creates another file. This
        would slow down the next program.
        """
        return Path(tempfile.mkdtemp(dir=self.folder))

    def sample(self, load: Load, *servers: Server) -> Sample:
        """Send a load to the measured servers, and return the cost of one request."""
        before = self._read_clocks(servers)
        answered = self.client.run(load)
        for server in servers:
            wait_until_idle(server)
        spent = [after - then for then, after in zip(before, self._read_clocks(servers), strict=True)]
        application, postgres, redis = (seconds / answered.count * 1e6 for seconds in spent)
        return Sample(
            application_us=application,
            postgres_us=postgres,
            redis_us=redis,
            per_second=answered.count / answered.seconds,
            median_ms=answered.median_ms,
            p99_ms=answered.p99_ms,
        )

    def _read_clocks(self, servers: tuple[Server, ...]) -> tuple[float, float, float]:
        postgres, redis = self.backends.postgres.process_id, self.backends.redis.process_id
        return (
            sum(server.cpu_seconds() for server in servers),
            cpu_seconds(postgres),
            cpu_seconds(redis) if redis else 0.0,
        )


def wait_until_idle(server: Server) -> None:
    """Wait until a server has finished its work after the responses, for example in threads.

    This work is part of the responses' cost.
    """
    deadline = time.monotonic() + IDLE_TIMEOUT_SECONDS
    spent = server.cpu_seconds()
    while time.monotonic() < deadline:
        time.sleep(IDLE_SECONDS)
        before, spent = spent, server.cpu_seconds()
        if spent - before < IDLE_SECONDS / 10:
            return


@contextmanager
def open_bench(effort: Effort) -> Iterator[Bench]:
    """Start the backends and the client of a run."""
    with (
        tempfile.TemporaryDirectory(dir=BUILD, prefix="files-") as folder,
        running_backends() as backends,
        running_client() as client,
    ):
        yield Bench(backends, client, effort, Path(folder))
