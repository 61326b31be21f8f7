"""Adapters for publishers with their own payload format, one module each. They convert it to the document's.

SEOcraftAI and BlogSEO post the document's format, so they need no adapter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from monitoring.articles.publishers import ghost, outrank, wordpress, wp_webhooks
from monitoring.articles.publishing_words import is_test_submission
from monitoring.contract.problems import Problem

Submissions: TypeAlias = "list[dict[str, Any]]"
Adapt: TypeAlias = "Callable[[Mapping[str, Any]], Submissions | None]"

# Each returns None for another publisher's payload. The document lists the schemas in the same order, so an
# adapter reads only what its publisher's schema allows.
ADAPTERS: tuple[Adapt, ...] = (ghost.adapt, outrank.adapt, wordpress.adapt, wp_webhooks.adapt)


def read_submissions(payload: dict[str, Any], trigger: str | None = None) -> Submissions:
    """Return the submissions in a schema-valid payload, one per article.

    A payload with `article` is in the document's format and returned unchanged, and so is a test. `trigger`
    is a WP Webhooks header: its payload does not say that the post was deleted. Raises Problem if there is no
    article.
    """
    if "article" in payload or is_test_submission(payload):
        return [payload]
    event = trigger if trigger == wp_webhooks.DELETION else payload.get("event")
    adapted = next(filter(None, (adapt(payload) for adapt in ADAPTERS)), None)
    if adapted is None:  # the document's schema accepts more as a test than we do
        raise Problem("invalid_field", field="article", problem="is required")
    return [_without_nulls({"event": event} | submission) for submission in adapted]


def _without_nulls(submission: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: value for name, value in submission.items() if value is not None}
    article = {name: value for name, value in submission["article"].items() if value is not None}
    return told | {"article": article}
