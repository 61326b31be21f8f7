"""The one cookie: a random token, of a session once somebody has signed in."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from monitoring.settings import Settings

_TOKEN_BYTES = 32
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


def make_token() -> str:
    """Make the token of a stranger, to whom forms are tied before there is a session."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def read_token(request: Request, settings: Settings) -> str | None:
    """Return the token a browser sent; None for what none of ours looks like."""
    token = request.cookies.get(_name(settings), "")
    return token if _TOKEN.fullmatch(token) else None


def set_token(response: Response, token: str, settings: Settings) -> None:
    """Give a browser a token until it is closed, or as long as a session may last.

    `__Host-` keeps other names of the same domain from planting one (RFC 6265bis §4.1.3.2).
    """
    response.set_cookie(
        _name(settings),
        token,
        max_age=settings.session_hours * 3600,
        path="/",
        secure=settings.session_cookie_secure,
        httponly=True,
        samesite="lax",
    )


def csrf_token_of(token: str) -> str:
    """Derive what forms carry. It does not tell the cookie, and only who has the cookie can know it."""
    return hmac.new(token.encode(), b"csrf", hashlib.sha256).hexdigest()


def is_csrf_token(sent: str, token: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(sent.encode(), csrf_token_of(token).encode())


def _name(settings: Settings) -> str:
    return "__Host-session" if settings.session_cookie_secure else "session"
