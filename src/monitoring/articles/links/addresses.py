"""Computes the keys by which links are matched to articles. Has no side effects."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit

from monitoring.articles.field_names import ADDRESSES
from monitoring.articles.site.addresses import Addresses
from monitoring.articles.storage import SOURCE_LOCALE

# The prefix of keys that contain a folder name. All other keys are SHA-256 hashes.
FOLDER_SIGN = "/"

_DEFAULT_PORTS = {"http": 80, "https": 443}
_INDEX = re.compile(r"/(?:index\.html?)?\Z")
_FOLDER = re.compile(r"[a-z0-9-]+")
# Path segments that may precede a slug without changing its meaning. After any other segment, such as `tag`,
# the same slug may belong to another page.
_PLAIN_FOLDER = re.compile(r"(?:blogs?|posts?|articles?|news|stories|p|en|\d{1,4})", re.IGNORECASE)


def key_of_article(payload: Mapping[str, Any]) -> str:
    """Return the key of the article's address, or an empty string if the address is unknown.

    An article without an address field is keyed by its slug and its website's host.
    """
    article = payload["article"]
    told = (article.get(name) for name in ADDRESSES)
    canonical = (canonical_address(text.strip()) for text in told if isinstance(text, str))
    if own := next(filter(None, canonical), None):
        return _hash(own)
    website, slug = payload.get("website") or {}, str(article.get("slug") or "").strip().strip("/")
    site = canonical_address(str(website.get("baseUrl") or "").strip())
    if not site or not slug:
        return ""
    if "/" in slug:
        return _hash(canonical_address(f"https://{site.rstrip('/')}/{slug}") or "")
    return _key_of_slug(site.partition("/")[0], slug)


def key_of_folder(folder: str) -> str:
    """Return the key that matches links to the page of the article in `folder`."""
    return f"{FOLDER_SIGN}{folder}"


def keys_of_link(address: str, base: str, site: Addresses) -> Iterator[str]:
    """Yield the keys of the articles that a link may point to, most certain first.

    `base` is the address of the page or its website, against which a relative address is resolved.
    """
    if (canonical := _complete(address, base)) is None:
        return
    yield _hash(canonical)
    host, *folders = canonical.partition("?")[0].split("/")
    for folder in filter(_FOLDER.fullmatch, folders):
        if canonical_address(site.of_page(SOURCE_LOCALE, folder)) == canonical:
            yield key_of_folder(folder)
    if folders and folders[-1] and "?" not in canonical and all(map(_PLAIN_FOLDER.fullmatch, folders[:-1])):
        yield _key_of_slug(host, unquote(folders[-1]))


def canonical_address(address: str) -> str | None:
    """Return a web address without its scheme, fragment and final slash, or None if it is not HTTP(S)."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        return None
    host = parts.hostname if port in (None, _DEFAULT_PORTS[parts.scheme]) else f"{parts.hostname}:{port}"
    path = quote(unquote(_INDEX.sub("", parts.path)), safe="/~")
    return f"{host}{path}?{parts.query}" if parts.query else f"{host}{path}"


def _complete(address: str, base: str) -> str | None:
    try:
        return canonical_address(urljoin(base, address))
    except ValueError:
        return None


def _key_of_slug(host: str, slug: str) -> str:
    return _hash(f"{host} {slug}")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
