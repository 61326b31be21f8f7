"""The document's rules for requests, by which forms are judged too. They are read once."""

from __future__ import annotations

from functools import cache

from monitoring.contract.document import published_document
from monitoring.contract.validation import Validation


@cache
def document_rules() -> Validation:
    """Return the rules for requests."""
    return Validation(published_document())
