"""One check of a configuration that is stored nowhere, as the checker would make it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from monitoring.backends.current import current_backends
from monitoring.checks.prober import open_prober
from monitoring.checks.probes.protocol import Finding
from monitoring.checks.probes.registry import COLUMNS, read_probe
from monitoring.contract.document import Json
from monitoring.monitors import rules
from monitoring.monitors.configuration import (
    default_configuration,
    sent_configuration_of,
    store_configuration,
)
from monitoring.monitors.models import Monitor


async def try_configuration(given: Mapping[str, Json], monitor: Monitor | None = None) -> Finding:
    """Check what a new monitor would be, or what a monitor would become by a merge patch. Nothing is stored.

    Addresses are judged as in every check. Raises Problem for a configuration that could not be saved either.
    """
    defaults = default_configuration()
    if monitor:
        configuration = rules.change(sent_configuration_of(monitor), given, defaults)
    else:
        configuration = rules.complete(given, defaults)
    columns = store_configuration(configuration)
    row = {"id": "to be tried"} | {name: _as_driver_returns(columns[name]) for name in COLUMNS}
    async with open_prober(current_backends().settings) as prober:
        return await prober.ask(read_probe(row))


def _as_driver_returns(value: Any) -> Any:  # noqa: ANN401
    return orjson.dumps(value).decode() if isinstance(value, dict | list) else value
