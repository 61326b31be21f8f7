"""Entity tags and conditional requests (RFC 9110 §8.8.3, §13.1.1 and §13.1.2).

A tag changes whenever the body does. If a resource is changed both by clients and by the service, its tag is
`"version.digest"`, and `If-Match` compares only the version. For example, a check changes only a monitor's
digest, so it does not make a client's write fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from hashlib import sha256

from monitoring.contract.problems import Problem

_BETWEEN_COMMAS = re.compile(r'(?:[^,"]|"[^"]*"?)+')
_QUOTED = re.compile(r'"([^"]*)"')
_WEAK = "W/"


def write_tag(body: bytes, version: str = "") -> str:
    """Return a strong entity tag of a body, prefixed with the version that `If-Match` compares, if any."""
    digest = sha256(body).hexdigest()[:32]
    return f'"{version}.{digest}"' if version else f'"{digest}"'


def version_of(updated_at: datetime) -> str:
    """Return a resource's version, derived from the time of its last change."""
    return f"{updated_at:%Y%m%dT%H%M%S%fZ}"


def is_known(tag: str, if_none_match: str | None) -> bool:
    """Return whether `If-None-Match` contains the tag. The comparison is weak (RFC 9110 §13.1.2)."""
    if if_none_match is None:
        return False
    return if_none_match == "*" or tag in {each.removeprefix(_WEAK) for each in _tags_in(if_none_match)}


def is_current(if_match: str | None, version: str) -> bool:
    """Return whether `If-Match` is absent, `*`, or contains the version.

    Tags without quotes and version-only tags from 0.1.0 are accepted. A weak tag, which a compressing proxy
    may have made from a strong one, never matches (RFC 9110 §13.1.1). Raises Problem if no tag matches and
    one of the tags is weak.
    """
    if if_match is None or if_match == "*":
        return True
    tags = list(_tags_in(if_match))
    if version in map(_version_of, tags):
        return True
    if any(tag.startswith(_WEAK) for tag in tags):
        raise Problem("weak_entity_tag")
    return False


def _tags_in(header: str) -> Iterator[str]:
    return map(str.strip, _BETWEEN_COMMAS.findall(header))


def _version_of(tag: str) -> str:
    quoted = _QUOTED.fullmatch(tag)
    return (quoted[1] if quoted else tag).partition(".")[0]
