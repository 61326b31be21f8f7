"""What a handler returns, and headers that are added to whatever answer follows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Self

import orjson
from starlette.types import Scope, Send

from monitoring.contract.document import Json

JSON = "application/json"

NO_CONTENT = 204
NOT_MODIFIED = 304

# The headers of an answer that shows a secret.
NO_STORE = {"Cache-Control": "no-store"}


@dataclass(frozen=True, slots=True)
class WrittenList:
    """A JSON object whose first field is a list of values that are already written, each by itself."""

    name: str
    items: Sequence[bytes]
    others: Mapping[str, Json]

    def payload(self) -> bytes:
        """Write the object."""
        others = b"".join(
            b",%b:%b" % (orjson.dumps(name), orjson.dumps(value)) for name, value in self.others.items()
        )
        return b"{%b:[%b]%b}" % (orjson.dumps(self.name), b",".join(self.items), others)


@dataclass(frozen=True, slots=True)
class Reply:
    """A status, headers and a body.

    The body is a JSON value. Under another `media_type` it is bytes or text, sent as they are. Bytes under
    `application/json` are JSON that is already written, and so are the items of a `WrittenList`.
    """

    body: Json
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    media_type: str = JSON

    @classmethod
    def empty(cls, status: int = NO_CONTENT, headers: Mapping[str, str] | None = None) -> Self:
        """Make a reply without a body and without a Content-Type."""
        return cls(b"", status, headers or {}, media_type="")

    def json_value(self) -> Json:
        """Return the body as the value its JSON says."""
        return orjson.loads(self.payload()) if isinstance(self.body, bytes | WrittenList) else self.body

    def payload(self) -> bytes:
        """Return the body as the bytes on the wire."""
        if isinstance(self.body, bytes):
            return self.body
        if isinstance(self.body, WrittenList):
            return self.body.payload()
        if self.media_type != JSON and isinstance(self.body, str):
            return self.body.encode()
        return orjson.dumps(self.body)

    def raw_headers(self, payload: bytes) -> list[tuple[bytes, bytes]]:
        """Return ASGI headers: framing first, then the reply's own."""
        headers = [(b"content-type", self.media_type.encode())] if self.media_type else []
        if self.status not in (NO_CONTENT, NOT_MODIFIED):
            headers.append((b"content-length", b"%d" % len(payload)))
        for name, value in self.headers.items():
            headers.append((raw_name(name), value.encode("latin-1")))
        return headers


@lru_cache(maxsize=256)
def raw_name(name: str) -> bytes:
    """Write a header's name as ASGI wants it."""
    return name.lower().encode()


async def send_reply(reply: Reply, scope: Scope, send: Send) -> None:
    """Send a reply; HEAD gets the headers of GET and no body."""
    payload = reply.payload()
    await send({"type": "http.response.start", "status": reply.status, "headers": reply.raw_headers(payload)})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else payload})


def add_reply_header(scope: Scope, name: str, value: str) -> None:
    """Put a header on whatever answer follows, be it a reply or a problem; the last value of a name wins.

    Names are spelt as in the document.
    """
    reply_headers(scope)[name] = value


def reply_headers(scope: Scope) -> dict[str, str]:
    """Headers collected so far for the answer."""
    headers: dict[str, str] = scope.setdefault("state", {}).setdefault("reply_headers", {})
    return headers


def note_status(scope: Scope, status: int) -> None:
    """Note that an answer has begun."""
    scope["state"]["reply_status"] = status


def note_held(scope: Scope, seconds: float) -> None:
    """Note that the caller wished to wait for so long. That is no slowness."""
    scope["state"]["held_seconds"] = seconds


def noted_held(scope: Scope) -> float:
    """Return for how many seconds the answer was held back as the caller wished."""
    seconds: float = scope.get("state", {}).get("held_seconds", 0.0)
    return seconds


def noted_status(scope: Scope) -> int:
    """Return the status of the answer that has begun; 0 while there is none."""
    status: int = scope.get("state", {}).get("reply_status", 0)
    return status
