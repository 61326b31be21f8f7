"""Exports pages as Astro content collections, such as `shoes/pt-BR.md`. Has no side effects."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import urljoin

from monitoring.articles.exports.collections import CollectionExport
from monitoring.articles.exports.pages import StoredPage, find_address, find_text
from monitoring.articles.translation.memory_budget import MOST_BYTES, predict_bytes

# Matches image addresses that Astro does not resolve as files: root-relative addresses, and addresses with a
# scheme that Astro can parse.
_NO_FILE = re.compile(r"https?://[\w.-]+(?::\d{1,5})?(?:[/?#]|\Z)|(?:data|blob|cid):|[/#]|\Z", re.IGNORECASE)
_ALIAS = re.compile(r"[@~]/")


class AstroExport(CollectionExport):
    """Exports an Astro content collection.

    Astro resolves relative image addresses as files. A missing file makes the build fail.
    """

    def _write_text(self, page: StoredPage) -> str:
        """Return the page's text. Images that Astro would resolve as files are written as HTML.

        Astro does not process addresses in HTML. Relative addresses are resolved against the address of the
        article or, if the publisher did not send that, of its website.
        """
        text = find_text(page)
        if "![" not in text:
            return text
        if predict_bytes(text, is_markdown=True) > MOST_BYTES:
            return _without_images(text)
        return "".join(_with_images_as_html(text, find_address(page)))


def _with_images_as_html(text: str, base: str) -> Iterator[str]:
    from monitoring.articles.translation.markdown_images import find_images  # noqa: PLC0415 - 2 MiB

    position = 0
    for start, end, image in find_images(text):
        if start < position or (image and _NO_FILE.match(image.address)):
            continue
        yield text[position:start]
        if image:
            yield _write_image(image.address, image.title, image.words, base)
        else:
            yield _without_images(text[start:end])
        position = end
    yield text[position:]


def _write_image(address: str, title: str, words: str, base: str) -> str:
    """Return an image as HTML, followed by an empty comment.

    Without the comment, the line might start an HTML block, in which Markdown is not rendered.
    """
    attributes = {"src": _complete(address, base), "alt": words, "title": title}
    written = "".join(
        f' {name}="{_escape(value)}"' for name, value in attributes.items() if value or name == "alt"
    )
    return f"<img{written}><!-- -->"


def _escape(value: str) -> str:
    return html.escape(" ".join(value.split())).replace("|", "&#124;")


def _complete(address: str, base: str) -> str:
    """Resolve a relative address, unless it starts with a folder alias that only the site can resolve."""
    try:
        return address if _ALIAS.match(address) else urljoin(base, address)
    except ValueError:
        return address


def _without_images(text: str) -> str:
    return text.replace("![", "!&#91;")
