"""The operations about the service itself: liveness, readiness, the document and its pages."""

from functools import lru_cache

import orjson
from starlette.requests import Request
from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from monitoring.contract.document import JSON, read_published
from monitoring.reference.pages import (
    CONTENT_SECURITY_POLICY,
    render_entrance,
    render_guide,
    render_reference,
)
from monitoring.web.cacheable import reply_cacheable
from monitoring.web.replies import Reply

HTML = "text/html"

_PAGE_HEADERS = {"Content-Security-Policy": CONTENT_SECURITY_POLICY}


async def get_entrance(request: Request) -> Reply:
    """Return links to the app, the docs and the document (RFC 8631), as a page or as JSON."""
    document = request.app.document
    headers = {
        "Link": '</openapi.json>; rel="service-desc", </docs>; rel="service-doc"',
        "Vary": "Accept, Accept-Encoding",
    }
    if parse_accept_header(request.headers.get("accept"), MIMEAccept).best_match([JSON, HTML]) == HTML:
        return _reply_page(request, render_entrance(document), **headers)
    info = document.root["info"]
    places = {"name": info["title"], "document": "/openapi.json", "docs": "/docs", "app": f"/{info['x-app']}"}
    return reply_cacheable(request, orjson.dumps(places), JSON, headers)


async def get_health() -> Reply:
    """Report that the process responds. It checks no backend, so that a slow backend causes no restart."""
    return Reply({"status": "ok"})


async def get_readiness(request: Request) -> Reply:
    """Report whether requests can be served now, using the application's `readiness` function."""
    reply: Reply = await request.app.readiness()
    return reply


async def get_document_yaml(request: Request) -> Reply:
    """Serve the document as YAML."""
    return _reply_document(request, request.app.document.published_yaml, "application/yaml")


async def get_document_json(request: Request) -> Reply:
    """Serve the document as JSON."""
    return _reply_document(request, request.app.document.published_json)


async def get_derived_document(request: Request) -> Reply:
    """Serve the document as OpenAPI 3.0."""
    return _reply_document(request, request.app.document.published_openapi_30)


async def get_fuzzing_configuration(request: Request) -> Reply:
    """Serve the Schemathesis configuration that our own runs use."""
    return _reply_document(request, read_published("schemathesis.toml"), "application/toml")


async def get_workflows(request: Request) -> Reply:
    """Serve the Arazzo workflows."""
    return _reply_document(request, read_published("arazzo.yaml"), "application/yaml")


async def get_docs(request: Request) -> Reply:
    """Serve the reference as one self-contained page."""
    return _reply_page(request, render_reference(request.app.document))


async def get_guide(guide: str, request: Request) -> Reply:
    """Serve the guide with the name `guide` as a page."""
    return _reply_page(request, render_guide(request.app.document, guide))


def _reply_document(request: Request, document: bytes, media_type: str = JSON) -> Reply:
    return reply_cacheable(request, document, media_type, {"Access-Control-Allow-Origin": "*"})


def _reply_page(request: Request, html: str, **headers: str) -> Reply:
    return reply_cacheable(request, _encode(html), f"{HTML}; charset=utf-8", _PAGE_HEADERS | headers)


@lru_cache(maxsize=32)  # pages are large and never change
def _encode(html: str) -> bytes:
    return html.encode()
