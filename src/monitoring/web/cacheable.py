"""Replies with static texts, such as documents and pages.

Each text is compressed and tagged only once per process.
"""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from starlette.requests import Request
from werkzeug.http import parse_accept_header

from monitoring.contract.entity_tags import write_tag
from monitoring.web.replies import Reply

CACHE_CONTROL = "public, max-age=300"


@dataclass(frozen=True, slots=True)
class _Representation:
    body: bytes
    headers: dict[str, str]


def reply_cacheable(request: Request, text: bytes, media_type: str, headers: Mapping[str, str]) -> Reply:
    """Return a reply with a text, gzip-compressed if the client accepts that."""
    encodings = parse_accept_header(request.headers.get("accept-encoding"))
    chosen = _represent(text, is_compressed=encodings["gzip"] > 0)
    return Reply(chosen.body, headers={**chosen.headers, **headers}, media_type=media_type)


@lru_cache(maxsize=64)
def _represent(text: bytes, *, is_compressed: bool) -> _Representation:
    shared = {"Cache-Control": CACHE_CONTROL, "Vary": "Accept-Encoding"}
    if is_compressed:
        # Each representation of a text has its own tag (RFC 9110 §8.8.3.3).
        body = gzip.compress(text, mtime=0)
        return _Representation(body, {**shared, "Content-Encoding": "gzip", "ETag": write_tag(body)})
    return _Representation(text, {**shared, "ETag": write_tag(text)})
