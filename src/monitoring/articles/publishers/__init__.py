"""Adapters that convert publishers' own payloads to the format in the OpenAPI document, one module each.

SEOcraftAI and BlogSEO send payloads in the document's format, so they need no adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from monitoring.articles.publishers import ghost, outrank, wordpress, wp_webhooks
from monitoring.articles.publishing_words import is_test_submission
from monitoring.contract.problems import Problem

Submissions: TypeAlias = "list[dict[str, Any]]"
Adapt: TypeAlias = "Callable[[Mapping[str, Any]], Submissions | None]"

# Each adapter returns None for another publisher's payload. The order is that of the publishers' schemas in
# the OpenAPI document. So a payload that an adapter converts is valid under that publisher's schema.
ADAPTERS: tuple[Adapt, ...] = (ghost.adapt, outrank.adapt, wordpress.adapt, wp_webhooks.adapt)


def read_submissions(payload: dict[str, Any], trigger: str | None = None) -> Submissions:
    """Return the submissions in a schema-valid payload, one per article.

    A test is returned unchanged. So is a payload with `article`, because it already has the OpenAPI
    document's format. `trigger` is the value of the header `X-WP-Webhook-Name`. For WP Webhooks, only this
    header shows that a post was deleted. Raises Problem if there is no article.
    """
    if "article" in payload or is_test_submission(payload):
        return [payload]
    event = trigger if trigger == wp_webhooks.DELETION else payload.get("event")
    adapted = next(filter(None, (adapt(payload) for adapt in ADAPTERS)), None)
    if adapted is None:  # the schema allows some tests that `is_test_submission` does not recognize
        raise Problem("invalid_field", field="article", problem="is required")
    return [_without_nulls({"event": event} | submission) for submission in adapted]


def _without_nulls(submission: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: value for name, value in submission.items() if value is not None}
    article = {name: value for name, value in submission["article"].items() if value is not None}
    return told | {"article": article}
