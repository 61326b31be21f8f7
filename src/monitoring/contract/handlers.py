"""The service about itself: is it alive, is it ready, what does it promise."""

from starlette.requests import Request

from monitoring.contract.docs_page import render_docs_page
from monitoring.contract.replies import Reply


async def get_health() -> Reply:
    """Say that the process answers; asks no backend, so that a slow one gets nobody restarted."""
    return Reply({"status": "ok"})


async def get_readiness(request: Request) -> Reply:
    """Say whether requests can be served now; what that takes is known to whoever built the application."""
    reply: Reply = await request.app.readiness()
    return reply


async def get_document_yaml(request: Request) -> Reply:
    """Serve the document as it was written."""
    return Reply(request.app.document.yaml_bytes, media_type="application/yaml")


async def get_document_json(request: Request) -> Reply:
    """Serve the same document as JSON."""
    return Reply(request.app.document.json_bytes)


async def get_docs(request: Request) -> Reply:
    """Serve the document as one page that needs nothing else: no script, no network."""
    page = render_docs_page(request.app.document)
    headers = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}
    return Reply(page, headers=headers, media_type="text/html; charset=utf-8")
