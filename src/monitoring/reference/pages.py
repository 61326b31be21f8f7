"""Renders the landing page, the API reference at /docs, and the guides, each as a self-contained page."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from monitoring.contract.document import Document
from monitoring.reference.markdown import Prose, highlight_code, render_prose, render_words
from monitoring.reference.parts import read_all_errors, read_parts, read_schemas

_TEMPLATES = files(__package__) / "templates"
_STYLE, _SCRIPT = ((_TEMPLATES / name).read_text() for name in ("page.css", "page.js"))


def _allow(content: str) -> str:
    return f"'sha256-{b64encode(sha256(content.encode()).digest()).decode()}'"


CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        f"style-src {_allow(_STYLE)}",
        f"script-src {_allow(_SCRIPT)}",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
"""Allows the style sheet and the script within the page, and requests to this host. Forbids all else."""

_SECTION = 2  # the heading level of a section

_ENVIRONMENT = Environment(
    loader=PackageLoader("monitoring.reference"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_ENVIRONMENT.filters |= {
    "code": highlight_code,
    "prose": lambda text: render_prose(text).html,
    "words": render_words,
}
_ENVIRONMENT.globals |= {"style": Markup(_STYLE), "script": Markup(_SCRIPT)}  # noqa: S704 - our own files


@dataclass(frozen=True, slots=True)
class Guide:
    """A guide. `name` is the last segment of its URL."""

    name: str
    prose: Prose

    @property
    def title(self) -> str:
        """The guide's first heading."""
        return self.prose.headings[0].text


@lru_cache
def render_reference(document: Document) -> str:
    """Render the reference of an API document as one page."""
    page = _read_frame(document)
    return _ENVIRONMENT.get_template("reference.html").render(
        page,
        to_root="",
        to_reference="",
        to_guide="docs/",
        here="",
        errors=read_all_errors(document, page["parts"]),
        schemas=read_schemas(document),
    )


@lru_cache
def render_entrance(document: Document) -> str:
    """Render the page that links to the app, the reference and the API document."""
    return _ENVIRONMENT.get_template("entrance.html").render(
        _read_frame(document), to_root="", to_reference="docs", to_guide="docs/", here=""
    )


@lru_cache
def render_guide(document: Document, name: str) -> str:
    """Render the guide called `name`, which must be one of the guides that the document lists."""
    guides = read_guides(document)
    index = [guide.name for guide in guides].index(name)
    return _ENVIRONMENT.get_template("guide.html").render(
        _read_frame(document),
        to_root="../",
        to_reference="../docs",
        to_guide="",
        here=name,
        guide=guides[index],
        following=next(iter(guides[index + 1 :]), None),
    )


@lru_cache
def read_guides(document: Document) -> tuple[Guide, ...]:
    """Return the rendered guides, in the order in which the document lists them."""
    return tuple(
        Guide(name, render_prose(_guide_path(name).read_text(), _link_in_site))
        for name in list_guides(document)
    )


def list_guides(document: Document) -> Sequence[str]:
    """Return the names of the guides, in the order in which the document lists them."""
    operation = document.operations.get("get_guide")
    names: Sequence[str] = document.follow(operation.parameters[0]["schema"])["enum"] if operation else ()
    return names


@lru_cache
def _read_frame(document: Document) -> dict[str, Any]:
    """Return the template variables that all pages share."""
    info = document.root["info"]
    lead, _, rest = info.get("description", "").partition("\n\n")
    return {
        "info": info,
        "introduction": {"lead": render_prose(lead), "rest": render_prose(rest)},
        "section_words": _words_by_section(rest),
        "guides": read_guides(document),
        "parts": read_parts(document),
    }


def _words_by_section(text: str) -> dict[str, str]:
    """Return the Markdown of each section, by its heading's anchor. The page's search uses this text."""
    anchors = [heading.anchor for heading in render_prose(text).headings if heading.level == _SECTION]
    sections = re.split(r"^## .*$", text, flags=re.MULTILINE)[1:]
    return dict(zip(anchors, sections, strict=True))


def _guide_path(name: str) -> Path:
    installed = Path(str(files("monitoring"))) / "guides"
    folder = installed if installed.is_dir() else Path(__file__).parents[4] / "docs" / "guides"
    return folder / f"{name}.md"


def _link_in_site(target: str) -> str:
    """Convert a link between files of the repository to a link between pages.

    Returns an empty string if the target has no page.
    """
    if target.startswith(("https://", "#")):
        return target
    if page := re.fullmatch(r"([a-z-]+)\.md(#.*)?", target):
        return f"{page[1]}{page[2] or ''}"
    if document := re.fullmatch(r"\.\./\.\./openapi\.yaml(#.*)?", target):
        return f"../docs{document[1]}" if document[1] else "../openapi.yaml"
    return ""
