"""The document's rules for requests, by which forms are judged too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitoring.contract.document import published_document
from monitoring.contract.validation import rules_of

if TYPE_CHECKING:
    from monitoring.contract.validation import Validation


def document_rules() -> Validation:
    """Return the rules for requests."""
    return rules_of(published_document())
