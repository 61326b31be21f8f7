"""The configuration of a monitor: the fields of the document's MonitorCreate, and their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from monitoring.contract.configurations import Configuration, read_configuration, read_defaults
from monitoring.contract.document import Json
from monitoring.monitors.client_certificates import (
    read_client_certificate,
    show_client_certificate,
    store_client_certificate,
)
from monitoring.monitors.contracts.keeping import store_contract
from monitoring.monitors.models import Monitor
from monitoring.monitors.request_headers import read_headers, show_headers, store_headers

__all__ = [
    "Configuration",
    "configuration_of",
    "default_configuration",
    "sent_configuration_of",
    "store_configuration",
]

_SCHEMA = "MonitorCreate"


def configuration_of(monitor: Monitor) -> Configuration:
    """Return a monitor's configuration as answers show it, in the order of the document."""
    return {
        **read_configuration(monitor, _SCHEMA),
        "request_headers": show_headers(monitor.request_headers),
        "client_certificate": show_client_certificate(monitor.client_certificate),
    }


def sent_configuration_of(monitor: Monitor) -> Configuration:
    """Return a monitor's configuration with the credentials that checks send. Raises `UndecryptableError`."""
    return {
        **configuration_of(monitor),
        "request_headers": read_headers(monitor.request_headers, monitor.encrypted_headers),
        "client_certificate": read_client_certificate(monitor.client_certificate),
    }


def store_configuration(configuration: Mapping[str, Json]) -> dict[str, Any]:
    """Return the columns that store a configuration, its credentials encrypted."""
    others = {name: value for name, value in configuration.items() if name != "contract"}
    return {
        **others,
        **store_headers(configuration["request_headers"]),
        "client_certificate": store_client_certificate(configuration["client_certificate"]),
        **store_contract(configuration["contract"]),
    }


def default_configuration() -> Mapping[str, Json]:
    """Return the default of every field that has one. `name` has none here: it defaults to the URL's host."""
    return read_defaults(_SCHEMA)
