"""The contents of a monitor's form, by monitor type.

The name of a setting begins with its type: `tcp.expect`. The name of a contract's field begins with
`contract`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import NamedTuple

_SENSITIVITY = {"Sensitivity": ("failure_threshold", "recovery_threshold", "retry_interval_seconds")}


class TypeForm(NamedTuple):
    """The texts of a monitor type, and the fields of its form, in order.

    `scheme` is prefixed to a URL without a scheme. `first` has the fields that everybody fills in. `groups`
    has the fields that few people change. The form shows these groups collapsed at first.
    """

    title: str
    purpose: str
    scheme: str
    address_label: str
    address_hint: str
    groups: Mapping[str, tuple[str, ...]]
    first: tuple[str, ...] = ("url", "name", "interval_seconds", "tags")

    @property
    def fields(self) -> tuple[str, ...]:
        """All field names, in form order."""
        return ("type", *self.first, "paused", *chain.from_iterable(self.groups.values()))


TYPE_FORMS: Mapping[str, TypeForm] = {
    "http": TypeForm(
        title="Web address",
        purpose="Sends a request, and checks the status and the text of the response.",
        scheme="https",
        address_label="URL",
        address_hint="http or https, without credentials or fragment. If neither is typed, https.",
        groups={
            "Request": (
                *("method", "request_headers", "request_body", "timeout_seconds"),
                *("follow_redirects", "verify_tls", "certificate_authority", "client_certificate"),
            ),
            "What counts as healthy": (
                *("expected_status_codes", "required_keyword", "forbidden_keyword", "assertions"),
                *("slow_threshold_ms", "tls_expiry_warning_days"),
            ),
            "Contract": (
                *("contract.document_url", "contract.document", "contract.document_authorization"),
                *("contract.operation_id", "contract.parameters"),
                *("contract.refresh_interval_seconds", "contract.violation"),
            ),
            **_SENSITIVITY,
        },
    ),
    "tcp": TypeForm(
        title="TCP port",
        purpose="Connects to a port, and can send a text and wait for one: databases, mail servers, caches.",
        scheme="tcp",
        address_label="Host and port",
        address_hint="Such as db.example.com:5432.",
        groups={
            "Conversation": ("tcp.tls", "verify_tls", "tcp.send", "tcp.expect", "timeout_seconds"),
            "What counts as healthy": ("slow_threshold_ms", "tls_expiry_warning_days"),
            **_SENSITIVITY,
        },
    ),
    "dns": TypeForm(
        title="DNS records",
        purpose="Looks up the records of a name, and compares them with those that you expect.",
        scheme="dns",
        address_label="Domain name",
        address_hint="Such as example.com. For an IP address, its reverse name is looked up.",
        first=("url", "name", "dns.record_type", "dns.expected", "dns.match", "interval_seconds", "tags"),
        groups={
            "Question": ("dns.resolver", "timeout_seconds"),
            "What counts as healthy": ("slow_threshold_ms",),
            **_SENSITIVITY,
        },
    ),
    "certificate": TypeForm(
        title="Certificate",
        purpose=(
            "Checks the certificate of any server: when it expires, for which names it is valid, and "
            "whether its authority is trusted."
        ),
        scheme="tls",
        address_label="Host and port",
        address_hint="Such as mail.example.com:587.",
        first=("url", "name", "certificate.starttls", "interval_seconds", "tags"),
        groups={
            "What counts as healthy": (
                *("certificate.names", "verify_tls", "tls_expiry_warning_days", "slow_threshold_ms"),
            ),
            "Handshake": ("timeout_seconds",),
            **_SENSITIVITY,
        },
    ),
    "ping": TypeForm(
        title="Ping",
        purpose="Sends an ICMP echo request: routers, printers, and whatever has no port to connect to.",
        scheme="ping",
        address_label="Host",
        address_hint="Such as router.example.com or 192.0.2.7.",
        groups={
            "Echo": ("ping.ip_version", "timeout_seconds"),
            "What counts as healthy": ("slow_threshold_ms",),
            **_SENSITIVITY,
        },
    ),
    "heartbeat": TypeForm(
        title="Heartbeat",
        purpose="Waits for a job to report, and alerts you when it does not: backups, cron jobs, queues.",
        scheme="heartbeat",
        address_label="",
        address_hint="",
        first=(
            *("name", "heartbeat.period_seconds", "heartbeat.cron", "heartbeat.time_zone"),
            *("heartbeat.grace_seconds", "tags"),
        ),
        groups={},
    ),
}
"""The form of each MonitorType, in the order of the choices that people see."""
