"""What the fields of a monitor, its states and its errors are called where people read them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

LABELS: Mapping[str, str] = {
    "name": "Name",
    "url": "URL",
    "interval_seconds": "Interval in seconds",
    "tags": "Tags",
    "paused": "Paused",
    "method": "Method",
    "request_headers": "Request headers",
    "request_body": "Request body",
    "timeout_seconds": "Timeout in seconds",
    "follow_redirects": "Follow redirects",
    "verify_tls": "Verify the certificate",
    "certificate_authority": "Own certificate authority",
    "client_certificate": "Client certificate",
    "expected_status_codes": "Expected status codes",
    "required_keyword": "Required text",
    "forbidden_keyword": "Forbidden text",
    "assertions": "Assertions",
    "slow_threshold_ms": "Slow above, in milliseconds",
    "tls_expiry_warning_days": "Certificate warning in days",
    "failure_threshold": "Failures in a row until down",
    "recovery_threshold": "Successes in a row until up",
    "retry_interval_seconds": "Seconds until the next try",
}
"""By the document's names, in the order of the form."""

HINTS: Mapping[str, str] = {
    "name": "If empty, the URL's host.",
    "url": "http or https, without credentials or fragment. If neither is typed, https.",
    "interval_seconds": "{minimum} to {maximum}.",
    "tags": "At most {maxItems}, separated by commas or spaces.",
    "paused": "A paused monitor is not checked.",
    "request_headers": "One per line, such as “Accept: application/json”. At most {maxProperties}. "
    "Credentials are saved and not shown again.",
    "request_body": "Not with GET and HEAD.",
    "timeout_seconds": "{minimum} to {maximum}, and below the interval.",
    "verify_tls": "An invalid certificate is a failure.",
    "certificate_authority": "Trusted instead of those that browsers trust. In PEM.",
    "client_certificate": "For servers that ask for one: with its chain and its private key, in PEM. "
    "Saved and not shown again.",
    "expected_status_codes": "Such as 204, 2xx, 200-299.",
    "required_keyword": "Must be in the answer. Case matters.",
    "forbidden_keyword": "Must not be in the answer. Case matters.",
    "assertions": "What the answer must say, one per line, at most {maxItems}: “json $.status equals ok”, "
    "“header Content-Type contains json”, “body not_matches (?i)error”, “first_byte_ms less_than 500”.",
    "slow_threshold_ms": "Slower is degraded. If empty, nothing is.",
    "tls_expiry_warning_days": "Before it expires. {minimum} turns this off.",
    "failure_threshold": "{minimum} to {maximum}.",
    "recovery_threshold": "{minimum} to {maximum}.",
    "retry_interval_seconds": "{minimum} to {maximum}. While a failure or a recovery is being confirmed.",
}

"""What a field takes; variables are keywords of its schema."""

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Request": (
        "method",
        "request_headers",
        "request_body",
        "timeout_seconds",
        "follow_redirects",
        "verify_tls",
        "certificate_authority",
        "client_certificate",
    ),
    "What counts as healthy": (
        "expected_status_codes",
        "required_keyword",
        "forbidden_keyword",
        "assertions",
        "slow_threshold_ms",
        "tls_expiry_warning_days",
    ),
    "Sensitivity": ("failure_threshold", "recovery_threshold", "retry_interval_seconds"),
}
"""Fields that few people change, in groups that are closed at first."""

FORM_ORDER = ("url", "name", "interval_seconds", "tags", "paused", *chain.from_iterable(GROUPS.values()))
"""The fields as the form shows them, one below the other."""

INTERVALS: Mapping[int, str] = {
    30: "30 seconds",
    60: "1 minute",
    120: "2 minutes",
    300: "5 minutes",
    600: "10 minutes",
    900: "15 minutes",
    1800: "30 minutes",
    3600: "1 hour",
    21600: "6 hours",
    43200: "12 hours",
    86400: "1 day",
}
"""Intervals that people often choose, in seconds."""

STATUSES: Mapping[str, str] = {
    "pending": "It has not been checked yet.",
    "up": "It answers as it should.",
    "degraded": "It answers, but slowly, or its certificate expires soon.",
    "validating": "A check failed. The next ones decide.",
    "down": "It does not answer as it should.",
    "paused": "It is not checked.",
    "maintenance": "It is in maintenance: failures open no incidents and do not count.",
    "unknown": "Its last check says nothing about it, or is too long ago.",
}
"""The document's MonitorStatus, in the order of the filter."""

ERRORS: Mapping[str, str] = {
    "dns_failure": "Name not found",
    "connection_refused": "Connection refused",
    "connection_failed": "Connection failed",
    "timeout": "Timeout",
    "tls_invalid": "Certificate or handshake invalid",
    "invalid_response": "Not valid HTTP",
    "unexpected_status": "Unexpected status",
    "keyword_missing": "Required text missing",
    "keyword_forbidden": "Forbidden text found",
    "assertion_failed": "Assertion failed",
    "contract_violated": "Contract violated",
    "contract_unavailable": "Contract unavailable",
    "too_many_redirects": "Too many redirects",
    "response_too_large": "Answer too large",
    "blocked_address": "Address not allowed",
    "tls_expiring": "Certificate expires soon",
    "slow": "Slow",
}
"""The document's CheckError."""

UNANSWERED = frozenset(
    {
        "dns_failure",
        "connection_refused",
        "connection_failed",
        "timeout",
        "tls_invalid",
        "invalid_response",
        "blocked_address",
    }
)
"""Errors of checks that got no answer, so that the time until they failed is no response time."""
