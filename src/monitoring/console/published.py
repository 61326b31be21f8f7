"""The document's own rules for what is typed into forms: read once, at the first form."""

from __future__ import annotations

from functools import cache

from monitoring.contract.document import published_document
from monitoring.contract.validation import Validation


@cache
def published_rules() -> Validation:
    """Return the rules by which requests are judged."""
    return Validation(published_document())
