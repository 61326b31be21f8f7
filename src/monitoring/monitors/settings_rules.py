"""Rules about the settings of monitor types that no schema can express."""

from __future__ import annotations

from ipaddress import ip_address

from monitoring.contract.problems import Problem
from monitoring.monitors.configuration import Configuration
from monitoring.outbound.addresses import is_permitted, read_networks
from monitoring.outbound.icmp_echoes import may_ping
from monitoring.settings import Settings


def demand_readable(configuration: Configuration) -> None:
    """Raise Problem if an expected DNS record is invalid for its type. Has no side effects."""
    if configuration["type"] != "dns" or not (expected := configuration["dns"]["expected"]):
        return
    from monitoring.outbound.name_questions import UnreadableRecord, read_record  # noqa: PLC0415 - it takes 9 MiB

    record_type = configuration["dns"]["record_type"]
    for number, written in enumerate(expected):
        try:
            read_record(record_type, written)
        except UnreadableRecord:
            raise Problem("dns_record_unreadable", number=number, record_type=record_type) from None


def demand_offered(configuration: Configuration, settings: Settings) -> None:
    """Raise Problem for a new monitor that the operator or the kernel does not allow."""
    if configuration["type"] == "ping" and not (settings.ping_monitors and may_ping()):
        raise Problem("ping_not_offered")
    demand_public_resolver(configuration, settings)


def demand_public_resolver(configuration: Configuration, settings: Settings) -> None:
    """Raise Problem for a name server in a network that the operator does not allow.

    Every check validates the name server's IP address again.
    """
    resolver = configuration["dns"]["resolver"] if configuration["type"] == "dns" else None
    if resolver and not is_permitted(ip_address(resolver), read_networks(settings.allowed_networks)):
        raise Problem("dns_resolver_refused")
