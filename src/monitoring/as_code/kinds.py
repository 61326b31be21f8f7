"""The three kinds of resources that a file can define, and the defaults of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from monitoring.contract.configurations import (
    member_of,
    read_defaults,
    read_notes,
    read_settings_defaults,
)
from monitoring.contract.document import published_document
from monitoring.contract.validation import Check, rules_of

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of resource: its section in files and lists, its name, its URL path, and its request schema."""

    section: str
    name: str
    path: str
    schema: str

    @property
    def words(self) -> str:
        """The kind's name with spaces, for use in texts."""
        return self.name.replace("_", " ")


MONITORS = Kind("monitors", "monitor", "/api/monitors", "MonitorCreate")
CHANNELS = Kind(
    "notification_channels",
    "notification_channel",
    "/api/notification-channels",
    "NotificationChannelUpdate",
)
WINDOWS = Kind(
    "maintenance_windows", "maintenance_window", "/api/maintenance-windows", "MaintenanceWindowCreate"
)

# In the order in which they are applied. Monitors are first, because the other kinds refer to them.
KINDS = (MONITORS, CHANNELS, WINDOWS)


@cache
def check_of(schema: str) -> Check:
    """Return the service's validator for a schema of the OpenAPI document. It raises `Problem`."""
    return rules_of(published_document()).request_check({"$ref": f"#/components/schemas/{schema}"}, "")


def defaults_of(kind: Kind, row: Row) -> dict[str, Any]:
    """Return the defaults of a row's fields, including nested fields, except for secrets."""
    if kind is CHANNELS:
        defaults = dict(read_defaults(member_of("NotificationChannelCreate", row["type"])))
        defaults["routing"] = dict(read_defaults("NotificationRoutingCreate"))
    else:
        defaults = dict(read_defaults(kind.schema))
    if kind is MONITORS:
        monitor_type = row.get("type", "http")
        if settings := read_settings_defaults(kind.schema, monitor_type):
            defaults[monitor_type] = dict(settings)
    return {name: value for name, value in defaults.items() if name not in secrets_of(kind, row)}


def secrets_of(kind: Kind, row: Row) -> Mapping[str, str]:
    """Return the fields that responses mask, each with the kind of mask (`whole`, `address` or `values`)."""
    if kind is MONITORS:
        return {"client_certificate": "whole"}
    if kind is CHANNELS:
        return read_notes(member_of("NotificationChannelCreate", row["type"]), "x-secret")
    return {}
