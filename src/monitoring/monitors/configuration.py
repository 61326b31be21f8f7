"""What a client decides about a monitor: the fields of the document's MonitorCreate, and their defaults."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from monitoring.contract.document import Json, Node, load_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from monitoring.monitors.models import Monitor

Configuration = dict[str, Json]


def configuration_of(monitor: Monitor) -> Configuration:
    """Read a monitor's configuration, in the order of the document."""
    return {name: getattr(monitor, name) for name in _fields()}


@cache
def default_configuration() -> Mapping[str, Json]:
    """Return the default of every field that has one; `name` has none here, its default is the URL's host."""
    return {name: schema["default"] for name, schema in _fields().items() if "default" in schema}


@cache
def _fields() -> Mapping[str, Node]:
    document = load_document()
    properties = document.root["components"]["schemas"]["MonitorCreate"]["properties"]
    return {name: document.follow(schema) for name, schema in properties.items()}
