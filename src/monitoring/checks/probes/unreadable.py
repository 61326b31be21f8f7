"""The probe of a monitor that nobody can check, because no key decrypts its credentials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

from monitoring.checks.probes.protocol import Finding
from monitoring.monitors.health import Outcome

if TYPE_CHECKING:  # they would load a library
    from monitoring.outbound.dialer import Dialer


class UnreadableProbe:
    """Asks nothing. The operator is to blame and not the server, so the time counts as `unknown`."""

    columns: ClassVar[tuple[str, ...]] = ()
    endpoint = None

    @classmethod
    def read(cls, _: Mapping[str, Any]) -> Self:
        """Read nothing."""
        return cls()

    async def ask(self, _: Dialer) -> Finding:
        """Find out nothing."""
        return Finding(Outcome.UNKNOWN, message="The service could not read the monitor's credentials")
