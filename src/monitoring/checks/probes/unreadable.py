"""The probe of a monitor that cannot be read: no key decrypts it, or a newer release created it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from monitoring.checks.probes.protocol import Finding
from monitoring.monitors.health import Outcome

if TYPE_CHECKING:  # at run time, these imports would load a library
    from monitoring.outbound.dialer import Dialer


@dataclass(frozen=True)
class UnreadableProbe:
    """Sends no request. Its outcome is unknown, because the server has not caused the problem."""

    columns: ClassVar[tuple[str, ...]] = ()
    endpoint = None

    message: str

    @classmethod
    def read(cls, _: Mapping[str, Any]) -> Self:
        """Return the probe without reading the row."""
        return cls("The monitor cannot be read")

    async def ask(self, _: Dialer) -> Finding:
        """Return an unknown outcome."""
        return Finding(Outcome.UNKNOWN, message=self.message)
