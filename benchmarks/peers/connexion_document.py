"""The published document, as far as stock Connexion serves it here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DOCUMENT = Path(__file__).parents[2] / "openapi.yaml"


def read_document(served: Mapping[str, Sequence[str]], bearer_function: str) -> dict[str, Any]:
    """Read it with these methods of these paths only, and with who verifies bearer tokens."""
    document: dict[str, Any] = yaml.load(DOCUMENT.read_text(), yaml.CSafeLoader)
    document["paths"] = {
        path: {
            name: part for name, part in document["paths"][path].items() if name in (*methods, "parameters")
        }
        for path, methods in served.items()
    }
    # Connexion does not let null pass beside `allOf`.
    last_error = {"type": "string", "nullable": True}
    document["components"]["schemas"]["Monitor"]["properties"]["last_error"] = last_error
    document["components"]["securitySchemes"] = {
        "bearerAuth": {"type": "http", "scheme": "bearer", "x-bearerInfoFunc": bearer_function}
    }
    return document
