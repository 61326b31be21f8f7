"""The published document as OpenAPI 3.0, reduced to what stock Connexion serves here."""

from __future__ import annotations

from pathlib import Path
from runpy import run_path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "openapi.yaml"
DERIVATION = ROOT / "src" / "monitoring" / "contract" / "openapi_30.py"  # the service is not installed here


def read_document(served: Mapping[str, Sequence[str]], bearer_function: str) -> dict[str, Any]:
    """Read it with only these methods of these paths, and with the function that verifies bearer tokens."""
    written = yaml.load(DOCUMENT.read_text(), yaml.CSafeLoader)
    document: dict[str, Any] = run_path(str(DERIVATION))["derive_openapi_30"](written)
    document["paths"] = {
        path: {
            name: part for name, part in document["paths"][path].items() if name in (*methods, "parameters")
        }
        for path, methods in served.items()
    }
    # Connexion does not accept null beside a reference.
    last_error = {"type": "string", "nullable": True}
    document["components"]["schemas"]["Monitor"]["properties"]["last_error"] = last_error
    document["components"]["securitySchemes"] = {
        "bearerAuth": {"type": "http", "scheme": "bearer", "x-bearerInfoFunc": bearer_function}
    }
    return document
