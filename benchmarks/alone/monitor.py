"""The answer of all programs that have nothing behind them."""

from __future__ import annotations

from typing import Any

MONITOR: dict[str, Any] = {
    "id": "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70",
    "name": "Checkout of the storefront",
    "url": "https://shop.example.com/checkout/health?region=eu-west",
    "method": "GET",
    "request_headers": {"Accept": "application/json", "X-Probe": "checkout"},
    "request_body": None,
    "expected_status_codes": ["2xx", "301"],
    "required_keyword": '"status":"ok"',
    "forbidden_keyword": None,
    "interval_seconds": 60,
    "timeout_seconds": 10,
    "follow_redirects": True,
    "verify_tls": True,
    "tls_expiry_warning_days": 14,
    "slow_threshold_ms": None,
    "failure_threshold": 3,
    "recovery_threshold": 2,
    "paused": False,
    "tags": ["shop", "production"],
    "status": "up",
    "status_changed_at": "2026-11-20T09:30:00.000000Z",
    "last_checked_at": "2026-11-20T09:40:00.000000Z",
    "next_check_at": "2026-11-20T09:41:00.000000Z",
    "last_response_time_ms": 87,
    "last_error": None,
    "mute": None,
    "created_at": "2026-11-20T09:30:00.000000Z",
    "updated_at": "2026-11-20T09:30:00.000000Z",
}
LOCATION = f"/api/monitors/{MONITOR['id']}"
