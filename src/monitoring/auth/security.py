"""What Connexion checks before it lets a request in: the bearer token, and the publisher's secret."""

from __future__ import annotations

import hmac
import re
from typing import TYPE_CHECKING

from monitoring.auth.callers import Caller
from monitoring.auth.limits import client_network, count_request, demand_allowance
from monitoring.auth.service import find_living_key
from monitoring.auth.tokens import InvalidTokenError, verify_token
from monitoring.backends.current import current_backends
from monitoring.contract.problems import Problem
from monitoring.contract.routing import operation_of
from monitoring.contract.security import SecurityHandler

if TYPE_CHECKING:
    from starlette.requests import Request

    from monitoring.auth.tokens import TokenClaims
    from monitoring.backends.counters import Mark
    from monitoring.contract.document import Node

_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9._~+/-]+=*)")  # RFC 6750 §2.1


class BearerSecurity(SecurityHandler):
    """`bearerAuth`: a living key's token, with the operation's scope, within the key's rate limit."""

    async def let_in(self, request: Request, scheme: Node) -> Caller:  # noqa: ARG002 - one scheme only
        """Return the caller. The operation's `x-required-scope` names the scope: http schemes list none."""
        backends, claims = current_backends(), _read_token(request)
        allowance = await backends.counters.hit(backends.settings.rate_limit_api, claims.client_id)
        caller = await _find_caller(claims, allowance.mark)
        demand_allowance(request, allowance)
        scope = operation_of(request).get("x-required-scope")
        if scope and scope not in caller.scopes:
            raise Problem("insufficient_permissions", scope=scope)
        return caller


class WebhookSecurity(SecurityHandler):
    """`webhookSecret`: the operator's secret. A bearer token sent beside it must be valid too."""

    async def let_in(self, request: Request, scheme: Node) -> Caller | None:
        """Return the token's caller, or None when the secret came alone."""
        await _demand_webhook_secret(request, scheme["name"])
        if current_backends().settings.webhook_require_bearer or "authorization" in request.headers:
            return await _find_caller(_read_token(request))
        return None


SECURITY_HANDLERS: dict[str, type[SecurityHandler]] = {"bearer": BearerSecurity, "apiKey": WebhookSecurity}


def _read_token(request: Request) -> TokenClaims:
    sent = request.headers.getlist("authorization")
    matched = _BEARER.fullmatch(sent[0]) if len(sent) == 1 else None
    if not matched:
        raise Problem("authorization_missing")
    try:
        return verify_token(current_backends().settings, matched[1])
    except InvalidTokenError:
        raise Problem("token_invalid") from None


async def _find_caller(claims: TokenClaims, mark: Mark | None = None) -> Caller:
    """Demand that the token's key still lives, and that the token was not revoked."""
    try:
        key = await find_living_key(claims, mark)
    except InvalidTokenError:
        raise Problem("token_invalid") from None
    if key is None:
        raise Problem("api_key_invalid")
    return Caller(key.client_id, key.team_id, claims.scopes & key.scopes)


async def _demand_webhook_secret(request: Request, header_name: str) -> None:
    """Compare with every configured secret, each in constant time.

    Only wrong secrets count against the limit, so a stranger behind the publisher's proxy never locks it out.
    Secrets have at least 16 characters: no rate suffices to guess them.
    """
    settings = current_backends().settings
    if not settings.webhook_secrets:
        raise Problem("webhook_secret_not_configured")
    sent = request.headers.get(header_name, "").encode()
    accepted = [secret.get_secret_value().encode() for secret in settings.webhook_secrets]
    if sum(hmac.compare_digest(sent, secret) for secret in accepted) == 0:
        await count_request(request, settings.rate_limit_webhook_failures, client_network(request))
        raise Problem("webhook_secret_invalid")
