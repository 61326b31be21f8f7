"""Fetches a contract's OpenAPI document from its URL, through the same dialer as checks."""

from __future__ import annotations

from collections.abc import Mapping

from monitoring.contract.document import Json
from monitoring.monitors.contracts.documents import UnusableDocumentError
from monitoring.monitors.contracts.isolation import find_rules_apart, wait_apart
from monitoring.outbound.client import HttpClient
from monitoring.outbound.dialer import Dialer
from monitoring.outbound.exchanges import Exchange, OutboundRequest

TIMEOUT_SECONDS = 5
MAX_TAG_CHARACTERS = 256
_OK = 200
_NOT_MODIFIED = 304


class UnfetchedDocumentError(Exception):
    """A document could not be fetched. `reason` is a sentence that quotes nothing from a response."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def fetch_rules(
    dialer: Dialer,
    document_url: str,
    authorization: str | None,
    operation_id: str,
    known: Mapping[str, Json] | None = None,
) -> Mapping[str, Json]:
    """Fetch a document and return an operation's rules, with the document's `etag` if it has one.

    Return `known`, the rules from the last fetch, if the document has not changed since (RFC 9110 §13.1.2).
    Raises UnfetchedDocumentError and UnusableDocumentError, and OSError when this machine has no sockets
    left.
    """
    tag = known.get("etag") if known else None
    request = OutboundRequest(
        method="GET",
        url=document_url,
        headers={
            **({"Authorization": authorization} if authorization else {}),
            **({"If-None-Match": tag} if tag else {}),
        },
        timeout_seconds=TIMEOUT_SECONDS,
        follow_redirects=True,
    )
    exchange = await HttpClient(dialer).send(request, _Everything())
    if exchange.failure:
        raise UnfetchedDocumentError(exchange.failure.message)
    if known and tag and exchange.status_code == _NOT_MODIFIED:
        return known
    if exchange.status_code != _OK:
        raise UnfetchedDocumentError(f"The server answered {exchange.status_code} instead of 200")
    if exchange.is_cut:
        raise UnusableDocumentError("too_large")
    text = exchange.body.decode("utf-8-sig", "replace")
    rules = await wait_apart(find_rules_apart, text, operation_id)
    return {**rules, "etag": _read_tag(exchange)}


def _read_tag(exchange: Exchange) -> str | None:
    [*_, value] = exchange.headers.get(b"etag") or [b""]
    tag = value.decode("latin-1")
    return tag if tag.isascii() and tag.isprintable() and 0 < len(tag) <= MAX_TAG_CHARACTERS else None


class _Everything:
    """Reads the whole body of a response with status 200, and no other body."""

    def begin(self, status_code: int, _: object) -> bool:
        return status_code == _OK

    def read(self, _: bytes) -> bool:
        return True
