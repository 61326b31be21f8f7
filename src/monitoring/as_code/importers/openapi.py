"""Imports an OpenAPI document (3.0 or 3.1): one contract monitor for each operation that is safe to call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urljoin

from monitoring.as_code.importers.drafts import Draft, UnreadableImportError, read_mapping


def read(text: bytes, url: str) -> Iterator[Draft]:
    """Yield a draft for each operation. Only GETs that need no parameters or credentials can be imported."""
    document = read_mapping(text, "openapi")
    if not str(document["openapi"]).startswith(("3.0.", "3.1.")):
        raise UnreadableImportError(f"OpenAPI {document['openapi']} is not supported, only 3.0 and 3.1")
    servers = document.get("servers") or [{"url": "/"}]
    server = urljoin(url, servers[0]["url"]).rstrip("/")
    for path, item in (document.get("paths") or {}).items():
        for method in ("get", "put", "post", "delete", "options", "head", "patch", "trace"):
            if method in item:
                yield _draft(document, item, method, path, server, url)


def _draft(  # noqa: PLR0913, PLR0917 - what locates an operation
    document: Mapping[str, Any], item: Mapping[str, Any], method: str, path: str, server: str, url: str
) -> Draft:
    operation = item[method]
    operation_id = operation.get("operationId")
    name = str(operation.get("summary") or operation_id or f"{method.upper()} {path}")[:100]
    if reason := _why_not(document, item, operation, method):
        return Draft(name, lost=[f"{method.upper()} {path} {reason}"])
    if not operation_id:
        return Draft(name, lost=[f"{method.upper()} {path} has no operationId"])
    contract = {"document_url": url, "operation_id": operation_id}
    return Draft(name, {"url": f"{server}{path}", "contract": contract})


def _why_not(
    document: Mapping[str, Any], item: Mapping[str, Any], operation: Mapping[str, Any], method: str
) -> str | None:
    if method != "get":
        return "is not a GET and may change data"
    parameters = [
        _follow(document, each) for each in (*item.get("parameters", ()), *operation.get("parameters", ()))
    ]
    if needed := [str(each.get("name")) for each in parameters if each.get("required")]:
        return f"requires the parameters {', '.join(needed)}"
    security = operation.get("security", document.get("security")) or []
    return "requires credentials" if security and {} not in security else None


def _follow(document: Mapping[str, Any], node: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the target of a reference within the document, or `node` itself if it is not a reference.

    If the reference cannot be resolved, return a required parameter, so that the operation is not imported.
    """
    reference = node.get("$ref")
    if reference is None:
        return node
    found: Any = document
    for part in str(reference).removeprefix("#/").split("/"):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {"name": reference, "required": True}
