"""The token endpoint and its metadata."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from monitoring.auth.client_authentication import read_client_credentials
from monitoring.auth.limits import client_network, count_request
from monitoring.auth.representations import represent_metadata, represent_token
from monitoring.auth.scopes import narrow_scopes
from monitoring.auth.service import authenticate_key
from monitoring.auth.tokens import sign_token
from monitoring.backends.current import current_backends
from monitoring.contract.problems import Problem
from monitoring.contract.replies import Reply

if TYPE_CHECKING:
    from starlette.requests import Request


async def issue_token(body: dict[str, str] | None, request: Request) -> Reply:
    """Exchange client credentials for a bearer token (RFC 6749 §4.4)."""
    form, settings = body or {}, current_backends().settings
    credentials = read_client_credentials(request.headers.get("authorization"), form)
    # Counted before the key is verified, so guessing is limited too.
    await count_request(
        request,
        settings.rate_limit_token,
        f"address:{client_network(request)}",
        f"client_id:{credentials.client_id[:128]}",
    )
    if form.get("grant_type", "client_credentials") != "client_credentials":
        raise Problem("oauth_unsupported_grant_type")
    key = await authenticate_key(credentials.client_id, credentials.client_secret)
    if key is None:
        raise Problem("oauth_invalid_client")
    scopes = narrow_scopes(key.scopes, form.get("scope"))
    if scopes is None:
        raise Problem("oauth_invalid_scope")
    token = sign_token(settings, key.client_id, scopes, now_seconds=int(time.time()))
    return Reply(represent_token(token, scopes), headers={"Cache-Control": "no-store"})


async def get_oauth_metadata() -> Reply:
    """Describe the token endpoint (RFC 8414)."""
    return Reply(represent_metadata(current_backends().settings.base_url))
