"""Replies that handlers return, and notes that layers keep about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

import orjson
from starlette.types import Scope, Send

from monitoring.contract.document import JSON, Json
from monitoring.contract.entity_tags import is_known, write_tag

OK = 200
NO_CONTENT = 204
NOT_MODIFIED = 304

# Headers for replies that contain a secret.
NO_STORE = {"Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class Reply:
    """A status, headers and a body.

    The body is a JSON value, which may be serialised to bytes already. If `media_type` is not
    `application/json`, the body is bytes or text, and is sent unchanged.
    """

    body: Json
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = JSON

    @classmethod
    def tagged(
        cls, body: Json, status: int = 200, headers: Mapping[str, str] | None = None, *, version: str = ""
    ) -> Self:
        """Return a reply whose ETag changes with the body. `version` is the part that `If-Match` compares."""
        tag = write_tag(orjson.dumps(body), version)
        return cls(body, status, {"ETag": tag, **(headers or {})})

    @classmethod
    def empty(cls, status: int = NO_CONTENT, headers: Mapping[str, str] | None = None) -> Self:
        """Return a reply without a body or Content-Type."""
        return cls(b"", status, headers or {}, media_type="")

    def unless_known(self, if_none_match: str | None) -> Self:
        """Return a 304 reply if the client already has this body (RFC 9110 §15.4.5), or else this reply."""
        if self.status != OK or not is_known(self.headers.get("ETag", ""), if_none_match):
            return self
        kept = {name: value for name, value in self.headers.items() if name != "Content-Encoding"}
        return self.empty(NOT_MODIFIED, kept)

    def json_value(self) -> Json:
        """Return the body as a JSON value."""
        return orjson.loads(self.body) if isinstance(self.body, bytes) else self.body

    def payload(self) -> bytes:
        """Return the body as bytes to send."""
        if isinstance(self.body, bytes):
            return self.body
        if self.media_type != JSON and isinstance(self.body, str):
            return self.body.encode()
        return orjson.dumps(self.body)

    def raw_headers(self, payload: bytes) -> list[tuple[bytes, bytes]]:
        """Return ASGI headers: Content-Type and Content-Length first, then the reply's own."""
        headers = [(b"content-type", self.media_type.encode())] if self.media_type else []
        if self.status not in (NO_CONTENT, NOT_MODIFIED):
            headers.append((b"content-length", b"%d" % len(payload)))
        headers.extend(raw_headers_of(self.headers))
        return headers


def raw_headers_of(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Convert headers to the ASGI format."""
    return [(_raw_name(name), value.encode("latin-1")) for name, value in headers.items()]


@lru_cache(maxsize=256)
def _raw_name(name: str) -> bytes:
    return name.lower().encode()


async def send_reply(reply: Reply, scope: Scope, send: Send) -> None:
    """Send a reply. A HEAD request gets GET's headers without a body."""
    payload = reply.payload()
    await send({"type": "http.response.start", "status": reply.status, "headers": reply.raw_headers(payload)})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else payload})


@dataclass(slots=True)
class ReplyNotes:
    """Notes about the reply to a request.

    `headers` are added to the reply, even if it is a problem. Names have the document's case, and the last
    value of a name wins. `status` is 0 until the reply begins. `held_seconds` is how long the reply was
    delayed at the caller's request, which does not count as slowness.
    """

    request_id: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 0
    held_seconds: float = 0.0


def notes_of(scope: Scope) -> ReplyNotes:
    """Return the notes about a request's reply."""
    state = scope.setdefault("state", {})
    notes: ReplyNotes | None = state.get("reply_notes")
    if notes is None:
        notes = state["reply_notes"] = ReplyNotes()
    return notes
