"""The document's rules for requests, by which forms are judged too."""

from __future__ import annotations

from monitoring.contract.document import published_document
from monitoring.contract.validation import Validation, rules_of


def document_rules() -> Validation:
    """Return the rules for requests."""
    return rules_of(published_document())
