"""Documents that promise something of one operation."""

from __future__ import annotations

from typing import Any


def promise(schema: Any, schemas: dict[str, Any] | None = None, *, version: str = "3.1.0") -> dict[str, Any]:
    """Write a document whose `get_order` answers 200 with JSON of this schema."""
    return {
        "openapi": version,
        "info": {"title": "Orders", "version": "1"},
        "paths": {
            "/orders/{order_id}": {
                "get": {
                    "operationId": "get_order",
                    "responses": {
                        "200": {
                            "description": "The order.",
                            "headers": {"X-Page": {"required": True, "schema": {"type": "integer"}}},
                            "content": {"application/json": {"schema": schema}},
                        },
                        "4XX": {"description": "A refusal."},
                    },
                }
            }
        },
        "components": {"schemas": schemas or {}},
    }


ORDER = {
    "type": "object",
    "required": ["id", "total"],
    "properties": {
        "id": {"type": "integer"},
        "total": {"type": "number", "minimum": 0},
        "lines": {"type": "array", "items": {"$ref": "#/components/schemas/Line"}},
    },
}
LINE = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
DOCUMENT = promise(ORDER, {"Line": LINE})
