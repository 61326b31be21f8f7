"""Texts that stay the same while a process runs, each compressed and tagged once: documents and pages."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256

from starlette.requests import Request
from werkzeug.http import parse_accept_header

from monitoring.web.replies import NOT_MODIFIED, Reply

CACHE_CONTROL = "public, max-age=300"


@dataclass(frozen=True, slots=True)
class _Representation:
    body: bytes
    headers: dict[str, str]


def reply_cacheable(request: Request, text: bytes, media_type: str, headers: Mapping[str, str]) -> Reply:
    """Answer with a text, compressed for who accepts it, or with 304 to who has it (RFC 9110 §13.1.2)."""
    encodings = parse_accept_header(request.headers.get("accept-encoding"))
    chosen = _represent(text, is_compressed=encodings["gzip"] > 0)
    if is_known(chosen.headers["ETag"], request.headers.get("if-none-match")):
        kept = {name: value for name, value in chosen.headers.items() if name != "Content-Encoding"}
        return Reply.empty(NOT_MODIFIED, {**kept, **headers})
    return Reply(chosen.body, headers={**chosen.headers, **headers}, media_type=media_type)


def digest_of(text: bytes) -> str:
    """Return what names this version of a text in its ETag: 32 characters of its SHA-256."""
    return sha256(text).hexdigest()[:32]


def is_known(entity_tag: str, if_none_match: str | None) -> bool:
    """Say whether the client has it already. The comparison is weak (RFC 9110 §13.1.2)."""
    sent = {tag.strip().removeprefix("W/") for tag in (if_none_match or "").split(",")}
    return not {"*", entity_tag}.isdisjoint(sent)


@lru_cache(maxsize=64)
def _represent(text: bytes, *, is_compressed: bool) -> _Representation:
    digest = digest_of(text)
    shared = {"Cache-Control": CACHE_CONTROL, "Vary": "Accept-Encoding"}
    if is_compressed:
        # Two representations of one text have two tags (RFC 9110 §8.8.3.3).
        encoded = {"Content-Encoding": "gzip", "ETag": f'"{digest}-gzip"'}
        return _Representation(gzip.compress(text, mtime=0), {**shared, **encoded})
    return _Representation(text, {**shared, "ETag": f'"{digest}"'})
