"""The security checks that Connexion runs before a request: bearer tokens and publisher secrets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Never

from pydantic import SecretStr
from starlette.requests import Request

from monitoring.auth.callers import MODE_HEADER, Caller, TestPublisher
from monitoring.auth.limits import client_address, client_network, count_request, demand_allowance
from monitoring.auth.publishers import find_fault_of_signature, has_access_token, is_any_secret
from monitoring.auth.service import find_living_key
from monitoring.auth.tokens import InvalidTokenError, TokenClaims, verify_token
from monitoring.backends.current import current_backends
from monitoring.contract.document import Node
from monitoring.contract.problems import Problem
from monitoring.web.replies import notes_of
from monitoring.web.routing import operation_of
from monitoring.web.security import SecurityHandler

_BEARER = re.compile(r"(?i:bearer) +([A-Za-z0-9._~+/-]+=*)")  # RFC 6750 §2.1


class BearerSecurity(SecurityHandler):
    """`bearerAuth`: requires a token of an active key with the operation's scope. Applies the rate limit."""

    async def let_in(self, request: Request, scheme: Node) -> Caller:  # noqa: ARG002 - one scheme only
        """Authenticate and return the caller. Raises Problem.

        The operation's `x-required-scope` names the required scope, because http schemes do not list scopes.
        """
        backends, claims = current_backends(), _read_token(request)
        allowance = await backends.counters.hit(backends.settings.rate_limit_api, claims.client_id)
        caller = await _find_caller(request, claims)
        notes_of(request.scope).headers[MODE_HEADER] = caller.mode
        demand_allowance(request, allowance)
        scope = operation_of(request).get("x-required-scope")
        if scope and scope not in caller.scopes:
            raise Problem("insufficient_permissions", scope=scope)
        return caller


class WebhookSecurity(SecurityHandler):
    """`webhookSecret`: requires the operator's secret. If a bearer token is also sent, it must be valid too.

    Ghost's signature can replace the secret, and Outrank's access token can replace both the secret and the
    bearer token. The operation must list the replacement, and the operator must have configured it.
    """

    async def let_in(self, request: Request, scheme: Node) -> TestPublisher | None:  # noqa: ARG002 - it verifies all schemes
        """Authenticate a publisher. Returns a TestPublisher for a test secret, and otherwise None.

        A publisher acts for no team, so it is not a caller, even if it also sends a token. Raises Problem.
        """
        settings = current_backends().settings
        listed = {name for alternative in operation_of(request)["security"] for name in alternative}
        signing_secrets = settings.ghost_webhook_secrets if "ghostSignature" in listed else ()
        access_tokens = settings.outrank_access_tokens if "outrankToken" in listed else ()
        secrets, test_secrets = settings.webhook_secrets, settings.webhook_test_secrets
        if not (secrets or test_secrets or signing_secrets or access_tokens):
            raise Problem("webhook_secret_not_configured")
        if has_access_token(request, access_tokens):
            return None
        sent = request.headers.get("x-webhook-secret", "")
        is_test = is_any_secret(sent, test_secrets)
        if not is_test and not is_any_secret(sent, secrets):
            problem = await _find_problem(request, signing_secrets, access_tokens)
            if problem:
                await _refuse_publisher(request, problem)
        if settings.webhook_require_bearer or _sends_credentials(request):
            await _find_caller(request, _read_token(request))
        return TestPublisher() if is_test else None


SECURITY_HANDLERS: dict[str, type[SecurityHandler]] = {"bearer": BearerSecurity, "apiKey": WebhookSecurity}


def _sends_credentials(request: Request) -> bool:
    """Return whether `Authorization` has credentials. Some clients send `Bearer ` without a token."""
    return any(value.strip().lower() != "bearer" for value in request.headers.getlist("authorization"))


def _read_token(request: Request) -> TokenClaims:
    sent = request.headers.getlist("authorization")
    matched = _BEARER.fullmatch(sent[0]) if len(sent) == 1 else None
    if not matched:
        raise Problem("authorization_missing")
    try:
        return verify_token(current_backends().settings, matched[1])
    except InvalidTokenError:
        raise Problem("token_invalid") from None


async def _find_caller(request: Request, claims: TokenClaims) -> Caller:
    """Return the caller for a token's claims. Raises Problem if the token or its key was revoked."""
    try:
        key = await find_living_key(claims)
    except InvalidTokenError:
        raise Problem("token_invalid") from None
    if key is None:
        raise Problem("api_key_invalid")
    scopes = claims.scopes & key.scopes
    return Caller(key.client_id, key.team_id, scopes, key.name, client_address(request))


async def _find_problem(
    request: Request, signing_secrets: Sequence[SecretStr], access_tokens: Sequence[SecretStr]
) -> Problem | None:
    """Return why a request without a valid secret or access token is refused. None if Ghost signed it."""
    if signing_secrets and "x-ghost-signature" in request.headers:
        return await find_fault_of_signature(request, signing_secrets)
    if access_tokens and _sends_credentials(request) and "x-webhook-secret" not in request.headers:
        return Problem("outrank_token_invalid")
    return Problem("webhook_secret_invalid")


async def _refuse_publisher(request: Request, problem: Problem) -> Never:
    """Count a failed authentication, then raise the problem, or `Problem("rate_limited")`.

    Successful requests do not count and are never limited, so failures of other clients behind the same proxy
    cannot lock the publisher out. Secrets have at least 16 characters, which nobody can guess at any request
    rate.
    """
    policy = current_backends().settings.rate_limit_webhook_failures
    await count_request(request, policy, client_network(request))
    raise problem
