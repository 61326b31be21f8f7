"""The probe of a monitor that this checker cannot read: no key decrypts it, or it is of a newer release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from monitoring.checks.probes.protocol import Finding
from monitoring.monitors.health import Outcome

if TYPE_CHECKING:  # they would load a library
    from monitoring.outbound.dialer import Dialer


@dataclass(frozen=True)
class UnreadableProbe:
    """Asks nothing. The operator is to blame and not the server, so the time counts as `unknown`."""

    columns: ClassVar[tuple[str, ...]] = ()
    endpoint = None

    message: str

    @classmethod
    def read(cls, _: Mapping[str, Any]) -> Self:
        """Read nothing."""
        return cls("The monitor cannot be read")

    async def ask(self, _: Dialer) -> Finding:
        """Find out nothing."""
        return Finding(Outcome.UNKNOWN, message=self.message)
