"""Compares a response, byte by byte, with an error example of the OpenAPI document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

import promises

if TYPE_CHECKING:
    from collections.abc import Mapping

    from monitoring.contract.document import Operation
    from monitoring.settings import RateLimitPolicy, Settings
    from promises import Answer, ErrorExample

# These headers depend on time, limits and the key, and are checked separately.
OF_THE_MOMENT = {"date", "monitoring-mode", "ratelimit", "ratelimit-policy"}


def find_error(operation: Operation | None, name: str) -> ErrorExample:
    """Return an error example by name: from the operation if it has this error, or else from anywhere."""
    everywhere = [error for error in promises.error_examples() if error.name == name]
    return next((error for error in everywhere if error.operation == operation), everywhere[0])


def demand_exactly(
    answer: Answer, error: ErrorExample, path: str, settings: Settings, said: Mapping[str, Any] | None = None
) -> None:
    """Assert that a response has an error's status, headers and body.

    `said` is the expected body if it differs from the example's.
    """
    assert answer.status == error.status, f"{answer.status} is not {error.status}"
    body = _allow_for_passing_time(said or error.example["value"], answer)
    assert answer.body == orjson.dumps(body), f"{answer.body!r} is not {orjson.dumps(body)!r}"
    fixed = {name: value for name, value in answer.headers.items() if name not in OF_THE_MOMENT}
    expected = _expected_headers(error, path, body)
    assert fixed == expected, f"{dict(fixed.items() - expected.items())} is not {expected}"
    _demand_rate_limit(answer, settings)


def _allow_for_passing_time(body: Mapping[str, Any], answer: Answer) -> Mapping[str, Any]:
    """Return the expected body with the response's own wait, if it is at most as long as the example's wait.

    Some of the wait may already have passed.
    """
    if "retry_after_seconds" not in body:
        return body
    left_seconds = answer.json["retry_after_seconds"]
    assert 1 <= left_seconds <= body["retry_after_seconds"], f"{left_seconds} seconds are left"
    return {**body, "retry_after_seconds": left_seconds}


def _expected_headers(error: ErrorExample, path: str, body: Mapping[str, Any]) -> dict[str, str]:
    """Return exactly the headers with fixed values that a response with this error must have."""
    documented = promises.documented_headers(error.response)
    scope = error.operation.definition.get("x-required-scope") if error.operation else None
    own = {
        name.lower(): text.format(scope=scope) for name, text in error.example.get("x-headers", {}).items()
    }
    fixed = {name: node["x-value"] for name, node in documented.items() if "x-value" in node}
    waits = {"retry-after": str(body["retry_after_seconds"])} if "retry_after_seconds" in body else {}
    allow = {"allow": ", ".join(promises.known_methods(path))} if "allow" in documented else {}
    content = error.operation.definition.get("requestBody", {}).get("content", {}) if error.operation else {}
    media_types = [
        name for media_type in content for name in (media_type, *content[media_type].get("x-also-as", ()))
    ]
    accept = {"accept": ", ".join(media_types)} if "accept" in documented else {}
    return {
        "connection": "close",
        "content-length": str(len(orjson.dumps(body))),
        "content-type": promises.JSON,
        "x-content-type-options": "nosniff",
        "x-request-id": promises.REQUEST_ID,
        **own,
        **fixed,
        **waits,
        **allow,
        **accept,
    }


def _demand_rate_limit(answer: Answer, settings: Settings) -> None:
    """Compare both rate limit headers with the service's settings, and with each other."""
    if "ratelimit" not in answer.headers:
        assert "ratelimit-policy" not in answer.headers
        return
    policies: dict[str, RateLimitPolicy] = {
        policy.name: policy
        for policy in (
            settings.rate_limit_api,
            settings.rate_limit_token,
            settings.rate_limit_webhook_failures,
            settings.rate_limit_check_now,
            settings.rate_limit_pings,
            settings.rate_limit_notifications,
        )
    }
    matched = re.fullmatch('"([a-z_]+)";r=([0-9]+);t=([0-9]+)', answer.headers["ratelimit"])
    assert matched
    policy, remaining, seconds = policies[matched[1]], int(matched[2]), int(matched[3])
    expected = f'"{policy.name}";q={policy.limit};w={policy.window_seconds}'
    assert answer.headers["ratelimit-policy"] == expected
    assert remaining < policy.limit
    assert 1 <= seconds <= policy.window_seconds
    if answer.status == 429:
        assert (remaining, str(seconds)) == (0, answer.headers["retry-after"])
