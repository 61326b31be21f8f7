"""Validates encoded paths, and finds the operation that a request reached."""

from starlette.requests import HTTPConnection

from monitoring.contract.document import Document, Node
from monitoring.contract.problems import Problem
from monitoring.contract.urlencoding import decode_percent
from monitoring.web.connexion_bridge import operation_id_of


def operation_of(request: HTTPConnection) -> Node:
    """Return the document's Operation Object that a request was routed to, with its `x-` fields.

    Raises KeyError for a request that reached no operation.
    """
    document: Document = request.scope["app"].document
    return document.operations[operation_id_of(request.scope)].definition


def judge_encoded_path(raw_path: bytes) -> None:
    """Raise Problem if servers could decode a path in different ways."""
    try:
        path = decode_percent(raw_path)
    except ValueError:
        raise Problem("malformed_request") from None
    if not path.isprintable():
        raise Problem("malformed_request")
    # An encoded slash would be part of a path segment, but none of our path segments contains a slash.
    if path.count("/") != raw_path.count(b"/"):
        raise Problem("not_found")
