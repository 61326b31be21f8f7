"""What every kind of probe has: a probe asks a server and judges the answer, and a finding is the result."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

from monitoring.contract.document import Json
from monitoring.monitors.health import Outcome
from monitoring.outbound.stopwatch import Timings
from monitoring.outbound.targets import Endpoint

if TYPE_CHECKING:  # they would load a library
    from monitoring.outbound.dialer import Dialer


class Finding(NamedTuple):
    """What a check found, whatever kind of probe made it.

    Unless the outcome is UP, `error` is a code of the document's CheckError and `message` says it to people;
    an UNKNOWN outcome has no error. `status_code` is the answer's status, if its protocol has one.
    `certificate_expires_at` is when the first certificate on the way expires, if there was one. `answer` is
    what is kept of an answer that makes the check fail (`status_code`, and `headers` as pairs).
    """

    outcome: Outcome
    error: str | None = None
    message: str | None = None
    status_code: int | None = None
    timings: Timings = Timings()
    certificate_expires_at: datetime | None = None
    answer: dict[str, Json] | None = None


class Probe(Protocol):
    """How one monitor is checked. It is read from the monitor's row and used until the row changes."""

    # The columns of `monitors` that `read` needs
    columns: ClassVar[tuple[str, ...]]

    @classmethod
    def read(cls, row: Mapping[str, Any]) -> Self:
        """Read the probe of a monitor.

        The row is as the driver returns it: JSON is text, and SQLite returns a flag as a number.
        """

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the probe connects first, or None if it cannot be read and the probe connects to nothing.

        `CHECKS_PER_HOST` goes by it. All probes without an endpoint count as one host.
        """

    async def ask(self, dialer: Dialer) -> Finding:
        """Ask the server and judge its answer; raises OSError when this machine has no sockets left."""
