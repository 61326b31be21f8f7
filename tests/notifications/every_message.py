"""An example of every message, which tests judge and of which docs/messages.md has pictures."""

from __future__ import annotations

from typing import Any

BASE_URL = "https://monitoring.acme.example"

NEWSLETTER = {
    "id": "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70",
    "name": "Newsletter sign-up",
    "url": "https://mail.acme.example/subscribe?list=news",
    "tags": ["newsletter", "production"],
}
SHOP = {
    "id": "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c71",
    "name": "Web shop",
    "url": "https://shop.acme.example/",
    "tags": ["shop"],
}
SEARCH = {
    "id": "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c72",
    "name": "Search",
    "url": "https://search.acme.example/",
    "tags": [],
}
INCIDENT = {
    "id": "019a9c41-0c2e-7f55-8a3b-6d1f9e4b7a12",
    "started_at": "2026-11-20T09:39:50.003000Z",
    "confirmed_at": "2026-11-20T09:40:00.183000Z",
    "error_message": "Answered 503 instead of 2xx",
    "acknowledged_at": "2026-11-20T09:44:00.000000Z",
    "acknowledged_by": "Alice Almeida",
    "resolved_at": "2026-11-20T10:12:00.000000Z",
    "resolution": "recovered",
}
ARTICLE = {"id": "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c7a", "slug": "autumn-sale", "revision": 2}
ABOUT = {"incident": INCIDENT, "monitor": NEWSLETTER}


def _event(event: str, data: dict[str, Any]) -> dict[str, Any]:
    told = {**data, "team": "Acme"} if data else {}
    return {"type": event, "timestamp": "2026-11-20T10:40:00.000000Z", "data": told}


def _digest(*events: dict[str, Any]) -> dict[str, Any]:
    return _event("digest", {"events": list(events)})


OPENED, RESOLVED = (_event(event, ABOUT) for event in ("incident.opened", "incident.resolved"))
DEGRADED = _event(
    "monitor.degraded",
    {"monitor": SHOP, "degradation": {"message": "Answered in 4,210 ms, slower than 2,000 ms"}},
)

# By the name of its picture.
EVERY_MESSAGE: dict[str, dict[str, Any]] = {
    "opened": OPENED,
    "acknowledged": _event("incident.acknowledged", ABOUT),
    "reminder": _event("incident.reminder", ABOUT),
    "resolved": RESOLVED,
    "degraded": DEGRADED,
    "recovered": _event("monitor.recovered", {"monitor": SHOP}),
    "certificate": _event(
        "certificate.expiring",
        {
            "monitor": SHOP,
            "certificate": {"expires_at": "2026-12-04T08:00:00.000000Z", "expires_in_days": 14},
        },
    ),
    "storm": _digest(
        *(_event("incident.opened", ABOUT | {"monitor": monitor}) for monitor in (NEWSLETTER, SHOP, SEARCH))
    ),
    "flapping": _digest(OPENED, RESOLVED, OPENED, RESOLVED, OPENED),
    "morning": _digest(
        OPENED,
        _event("incident.opened", ABOUT | {"monitor": SEARCH}),
        _event("incident.resolved", ABOUT | {"monitor": SEARCH}),
        DEGRADED,
    ),
    "disabled": _event(
        "channel.disabled",
        {
            "channel": {
                "id": "019a9c4a-77d0-7e4e-b2f8-0c6a1d9e5f21",
                "type": "slack",
                "name": "Ops in Slack",
                "disabled_reason": "Slack no longer knows this channel's address. Answered 404: no_service",
            }
        },
    ),
    "interrupted": _event("checks.interrupted", {"team": "Acme"}),
    "test": _event("test", {}),
    "confirmation": _event("channel.confirmation", {"team": "Acme", "address": "ops@acme.example"}),
    "translated": _event("article.translated", {"article": ARTICLE, "translation": {"locale": "es"}}),
    "failed": _event(
        "article.failed",
        {
            "article": ARTICLE,
            "translation": {"locale": "ca", "reason": "The engine did not answer for a day"},
        },
    ),
    "unpublished": _event("article.unpublished", {"article": ARTICLE}),
}
