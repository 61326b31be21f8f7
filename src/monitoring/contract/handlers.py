"""The service about itself: is it alive, is it ready, what does it promise."""

from starlette.requests import Request

from monitoring.contract.docs.pages import CONTENT_SECURITY_POLICY, render_guide, render_reference
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
    """Serve the document as one page that needs nothing else."""
    return _page(render_reference(request.app.document))


async def get_guide(guide: str, request: Request) -> Reply:
    """Serve a guide."""
    return _page(render_guide(request.app.document, guide))


def _page(html: str) -> Reply:
    headers = {"Content-Security-Policy": CONTENT_SECURITY_POLICY}
    return Reply(html, headers=headers, media_type="text/html; charset=utf-8")
