"""The token endpoints: issue, introspect and revoke tokens, and publish keys and metadata."""

from __future__ import annotations

import time
from collections.abc import Mapping

from starlette.requests import Request

from monitoring.auth import service
from monitoring.auth.callers import MODE_HEADER, mode_of
from monitoring.auth.client_authentication import ClientCredentials, read_client_credentials
from monitoring.auth.limits import client_network, count_request
from monitoring.auth.models import ApiKey
from monitoring.auth.representations import (
    represent_introspection,
    represent_keys,
    represent_metadata,
    represent_token,
)
from monitoring.auth.scopes import narrow_scopes
from monitoring.auth.service import AnotherClientsTokenError, authenticate_key, find_active_token
from monitoring.auth.signing_keys import read_signing_keys
from monitoring.auth.tokens import sign_token
from monitoring.backends.current import current_backends
from monitoring.contract.problems import Problem
from monitoring.web.cacheable import CACHE_CONTROL
from monitoring.web.replies import NO_STORE, Reply, notes_of

# docs/running.md tells operators to wait for this max-age between publishing a key and signing with it.
JWKS_HEADERS = {"Cache-Control": CACHE_CONTROL}


async def get_oauth_metadata() -> Reply:
    """Describe the authorization server (RFC 8414)."""
    return Reply(represent_metadata(current_backends().settings.base_url))


async def get_jwks() -> Reply:
    """Publish the public keys that verify tokens (RFC 7517). HMAC secrets have no public key."""
    keys = read_signing_keys(current_backends().settings.signing_keys).values()
    return Reply(represent_keys(key.public_jwk for key in keys if key.public_jwk), headers=JWKS_HEADERS)


async def issue_token(body: dict[str, str] | None, request: Request) -> Reply:
    """Exchange client credentials for a bearer token (RFC 6749 §4.4)."""
    form, settings = body or {}, current_backends().settings
    credentials = await _count_client(request, form)
    key = await _demand_key(request, credentials)
    if form.get("grant_type", "client_credentials") != "client_credentials":
        raise Problem("oauth_unsupported_grant_type")
    scopes = narrow_scopes(key.scopes, form.get("scope"))
    if scopes is None:
        raise Problem("oauth_invalid_scope")
    token = sign_token(settings, key.client_id, scopes, now_seconds=int(time.time()))
    return Reply(represent_token(token, scopes), headers=NO_STORE)


async def introspect_token(body: dict[str, str], request: Request) -> Reply:
    """Return whether a token of the caller's team is active, with its claims (RFC 7662)."""
    key = await _demand_key(request, await _count_client(request, body))
    claims = await find_active_token(key.team_id, body["token"])
    return Reply(represent_introspection(claims), headers=NO_STORE)


async def revoke_token(body: dict[str, str], request: Request) -> Reply:
    """Revoke one of the caller's own tokens (RFC 7009)."""
    key = await _demand_key(request, await _count_client(request, body))
    try:
        await service.revoke_token(key, body["token"])
    except AnotherClientsTokenError:
        raise Problem("oauth_another_clients_token") from None
    return Reply.empty(200, NO_STORE)


async def _count_client(request: Request, form: Mapping[str, str]) -> ClientCredentials:
    """Read the client's credentials, and count the request against the rate limit."""
    credentials = read_client_credentials(request.headers.get("authorization"), form)
    # Counted only by the client's network. A client_id is public, so anybody could exhaust a limit for it.
    await count_request(request, current_backends().settings.rate_limit_token, client_network(request))
    return credentials


async def _demand_key(request: Request, credentials: ClientCredentials) -> ApiKey:
    """Authenticate the client and return its key. The reply's `Monitoring-Mode` header has the key's mode.

    Raises `Problem("oauth_invalid_client")`.
    """
    key = await authenticate_key(credentials.client_id, credentials.client_secret)
    if key is None:
        raise Problem("oauth_invalid_client")
    notes_of(request.scope).headers[MODE_HEADER] = mode_of(key.client_id)
    return key
