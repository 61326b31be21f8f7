"""What Connexion is told of the document: as much as it needs to route and guard, in OpenAPI 3.0."""

import re
from typing import Any

from monitoring.contract.document import Document, Operation

_PATH_PARAMETER = re.compile(r"\{([^}]+)\}")


def make_skeleton(document: Document) -> dict[str, Any]:
    """Derive an OpenAPI 3.0 document of paths, operationIds and security. Nobody else sees it."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in document.operations.values():
        paths.setdefault(operation.path, {})[operation.method] = _bare_operation(operation)
    schemes = document.root.get("components", {}).get("securitySchemes", {})
    return {
        "openapi": "3.0.4",
        "info": {"title": "skeleton", "version": "0"},
        "security": document.root.get("security", []),
        "paths": paths,
        "components": {"securitySchemes": schemes},
    }


def _bare_operation(operation: Operation) -> dict[str, Any]:
    bare = {
        "operationId": operation.operation_id,
        "responses": {"default": {"description": "as the document says"}},
        # Text: what a path parameter must be is validated with all the others.
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in _PATH_PARAMETER.findall(operation.path)
        ],
    }
    if "security" in operation.definition:  # left out, the document's own security holds
        bare["security"] = operation.definition["security"]
    return bare
