"""Publishers that post a shape of their own: one file each reads it into the document's own shape.

SEOcraftAI and BlogSEO post that shape, so they need no file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from monitoring.articles.publishers import ghost, outrank, wordpress, wp_webhooks
from monitoring.articles.publishing_words import is_test_submission
from monitoring.contract.problems import Problem

Submissions: TypeAlias = "list[dict[str, Any]]"
Adapt: TypeAlias = "Callable[[Mapping[str, Any]], Submissions | None]"

# Each returns None for what is not its publisher's. The document has the same order, so that an adapter reads
# only what the schema of its publisher allows.
ADAPTERS: tuple[Adapt, ...] = (ghost.adapt, outrank.adapt, wordpress.adapt, wp_webhooks.adapt)


def read_submissions(payload: dict[str, Any], trigger: str | None = None) -> Submissions:
    """Return the submissions in a payload that the document allows: several if it has several articles.

    A payload with `article` is the document's own shape and returned as it is, and so is a test. `trigger` is
    what WP Webhooks names in a header: its payload does not say that the post was deleted. Raises Problem if
    there is no article.
    """
    if "article" in payload or is_test_submission(payload):
        return [payload]
    event = trigger if trigger == wp_webhooks.DELETION else payload.get("event")
    adapted = next(filter(None, (adapt(payload) for adapt in ADAPTERS)), None)
    if adapted is None:  # the document's rules of a test are wider than ours
        raise Problem("invalid_field", field="article", problem="is required")
    return [_without_nulls({"event": event} | submission) for submission in adapted]


def _without_nulls(submission: Mapping[str, Any]) -> dict[str, Any]:
    told = {name: value for name, value in submission.items() if value is not None}
    article = {name: value for name, value in submission["article"].items() if value is not None}
    return told | {"article": article}
