"""Labels for the fields, states and errors of monitors."""

from __future__ import annotations

from collections.abc import Mapping

LABELS: Mapping[str, str] = {
    "name": "Name",
    "type": "Type",
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
    "certificate_authority": "Custom certificate authority",
    "client_certificate": "Client certificate",
    "expected_status_codes": "Expected status codes",
    "required_keyword": "Required text",
    "forbidden_keyword": "Forbidden text",
    "assertions": "Assertions",
    "contract.document_url": "Address of the OpenAPI document",
    "contract.document": "OpenAPI document",
    "contract.document_authorization": "Authorization for the document",
    "contract.operation_id": "Operation",
    "contract.parameters": "Parameters of the operation",
    "contract.refresh_interval_seconds": "Seconds until the document is fetched again",
    "contract.violation": "A response that breaks the contract means",
    "slow_threshold_ms": "Slow above, in milliseconds",
    "tls_expiry_warning_days": "Certificate warning in days",
    "failure_threshold": "Failures in a row until down",
    "recovery_threshold": "Successes in a row until up",
    "retry_interval_seconds": "Retry interval in seconds",
    "tcp.tls": "Secure the connection with TLS",
    "tcp.send": "Text to send",
    "tcp.expect": "Expected text",
    "dns.record_type": "Record type",
    "dns.expected": "Expected records",
    "dns.match": "The monitor is up if",
    "dns.resolver": "Name server",
    "certificate.starttls": "STARTTLS",
    "certificate.names": "Other names on the certificate",
    "ping.ip_version": "IP version",
    "heartbeat.period_seconds": "Seconds between pings",
    "heartbeat.cron": "Or a cron schedule",
    "heartbeat.time_zone": "Time zone of the schedule",
    "heartbeat.grace_seconds": "Grace period in seconds",
}
"""Labels of fields by their names in the document; nested ones are named like `tcp.expect`."""

HINTS: Mapping[str, str] = {
    "name": "If empty, the host.",
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
    "required_keyword": "Must be in the response. Case-sensitive.",
    "forbidden_keyword": "Must not be in the response. Case-sensitive.",
    "assertions": "What the response must say, one per line, at most {maxItems}: “json $.status equals ok”, "
    "“header Content-Type contains json”, “body not_matches (?i)error”, “first_byte_ms less_than 500”.",
    "contract.document_url": "Version 3.0 or 3.1, as JSON or YAML.",
    "contract.document": "As JSON, if it has no URL. Not shown again. If empty, a saved one is kept.",
    "contract.document_authorization": "The Authorization header to fetch it with. "
    "Saved and not shown again.",
    "contract.operation_id": "Its operationId. If this and the document are empty, there is no contract.",
    "contract.parameters": "Of its path and query, one per line, such as “order_id: 42”. "
    "With them, the URL above is that of the server.",
    "contract.refresh_interval_seconds": "{minimum} to {maximum}.",
    "contract.violation": "Only down opens an incident.",
    "slow_threshold_ms": "A slower response is degraded.",
    "tls_expiry_warning_days": "Before it expires. {minimum} turns this off.",
    "failure_threshold": "{minimum} to {maximum}.",
    "recovery_threshold": "{minimum} to {maximum}.",
    "retry_interval_seconds": "{minimum} to {maximum}.",
    "tcp.send": "Once it is connected. Enter ends a line as protocols do (CRLF). "
    "Everyone who sees the monitor sees this.",
    "heartbeat.period_seconds": "{minimum} to {maximum}. Empty if a cron schedule says when the job runs.",
    "heartbeat.cron": "Minute, hour, day of month, month, day of week, such as “0 3 * * MON-FRI”.",
    "heartbeat.time_zone": "Such as Europe/Berlin.",
    "heartbeat.grace_seconds": "{minimum} to {maximum}. How late a ping may be, and how long a run may take.",
    "tcp.expect": "Optional. Case-sensitive.",
    "dns.expected": "One per line, such as “10 mail.example.com”. At most {maxItems}. If empty, any will do.",
    "dns.resolver": "Its address, such as 9.9.9.9. If empty, this service's name servers are asked.",
    "certificate.starttls": "For servers whose connections start unencrypted.",
    "certificate.names": "At most {maxItems}, separated by commas or spaces. The host is always checked.",
}

"""Hints below the fields. A variable such as `{minimum}` is a keyword of the field's schema."""

CHOICES: Mapping[str, Mapping[str, str]] = {
    "contract.violation": {"down": "the monitor is down", "degraded": "the monitor is degraded"},
    "dns.match": {
        "any": "one of these is there",
        "all": "all of these are there",
        "exactly": "these are there, and no others",
    },
    "certificate.starttls": {
        "": "No: the server begins with TLS",
        "smtp": "SMTP",
        "imap": "IMAP",
        "postgresql": "PostgreSQL",
    },
    "ping.ip_version": {"": "Either", "4": "IPv4", "6": "IPv6"},
}
"""Labels of a field's values, where the values of the document would not be understood in a form."""

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
"""Intervals that people often choose, in seconds, with their labels."""

STATUSES: Mapping[str, str] = {
    "pending": "It has not been checked yet.",
    "up": "It responds as it should.",
    "degraded": "It responds, with a warning.",
    "validating": "A check failed. The next checks will show whether it is down.",
    "down": "It does not respond as it should.",
    "paused": "It is not checked.",
    "maintenance": "It is in maintenance: failures open no incidents and do not count.",
    "unknown": "Its last check was inconclusive, or is too long ago.",
}
"""Explanations of each MonitorStatus of the document, in the order of the filter."""

HEARTBEAT_STATUSES: Mapping[str, str] = {
    **STATUSES,
    "pending": "It is waiting for a ping.",
    "up": "The job reports in time.",
    "down": "The job did not report in time, or reported a failure.",
    "unknown": "The service could not receive pings when one was expected.",
}
"""Explanations of each status of a heartbeat monitor, which waits for pings and sends no requests."""

PINGS: Mapping[str, str] = {
    "success": "succeeded",
    "start": "started",
    "fail": "failed",
    "log": "logged",
}
"""What a ping reports, by the document's PingKind."""

ERRORS: Mapping[str, str] = {
    "dns_failure": "Name not found",
    "connection_refused": "Connection refused",
    "connection_failed": "Connection failed",
    "timeout": "Timeout",
    "tls_invalid": "Certificate or handshake invalid",
    "invalid_response": "Invalid response",
    "unexpected_status": "Unexpected status",
    "unexpected_records": "Unexpected records",
    "keyword_missing": "Required text missing",
    "keyword_forbidden": "Forbidden text found",
    "assertion_failed": "Assertion failed",
    "contract_violated": "Contract violated",
    "contract_unavailable": "Contract unavailable",
    "ping_missing": "No ping in time",
    "job_unfinished": "Run not finished in time",
    "job_failed": "The job failed",
    "too_many_redirects": "Too many redirects",
    "response_too_large": "Response too large",
    "blocked_address": "Address not allowed",
    "tls_expiring": "Certificate expires soon",
    "slow": "Slow",
}
"""Short names of each CheckError of the document."""

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
"""Errors of checks that got no response. Their duration is not a response time."""
