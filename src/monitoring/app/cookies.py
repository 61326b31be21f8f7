"""Reads and sets the app's cookies, such as the browser's token, the device cookie and the notice.

Signing in replaces the browser's random token with a session's token. The device cookie (OWASP) identifies a
browser in which a user has signed in before. The device cookie grants no access, and only decides which rate
limits apply to signing in.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from urllib.parse import quote, unquote
from uuid import UUID

from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import Response

from monitoring.members.models import MAX_EMAIL_CHARACTERS
from monitoring.settings import Settings

_TOKEN_BYTES = 32
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
_DEVICE = re.compile(r"([A-Za-z0-9_-]{43})\.([0-9a-f]{64})")
_NOTICE_SECONDS = 60
_ANSWER_SECONDS = 600
_LIST_SECONDS = 86_400
_DEVICE_SECONDS = 400 * 86_400  # browsers keep no cookie longer (RFC 6265bis §5.5)


def make_token() -> str:
    """Return a random token, which ties forms to a browser before the user signs in."""
    return secrets.token_urlsafe(_TOKEN_BYTES)


def read_token(request: Request, settings: Settings) -> str | None:
    """Return the browser's token; None if the browser sent no token or a malformed one."""
    token = request.cookies.get(_name("session", settings), "")
    return token if _TOKEN.fullmatch(token) else None


def set_token(response: Response, token: str, settings: Settings) -> None:
    """Set the browser's token, for as long as a session may last."""
    _set(response, "session", token, settings.session_hours * 3600, settings)


def read_device(request: Request, settings: Settings, email: str) -> str | None:
    """Return the device token if this email address has signed in with it before; None otherwise."""
    matched = _DEVICE.fullmatch(request.cookies.get(_name("browser", settings), ""))
    if not matched:
        return None
    device, signature = matched.groups()
    signed = [_sign(device, email, key) for key in settings.signing_keys]
    return device if sum(hmac.compare_digest(signature, each) for each in signed) else None


def set_device(response: Response, device: str, settings: Settings, email: str) -> None:
    """Set the device cookie, signed for an email address. The cookie does not contain the address."""
    signed = f"{device}.{_sign(device, email, settings.signing_keys[0])}"
    _set(response, "browser", signed, _DEVICE_SECONDS, settings)


def read_notice(request: Request, settings: Settings, path: str) -> str | None:
    """Return the name of the notice for this path; None if there is none."""
    name, _, meant_for = request.cookies.get(_name("notice", settings), "").partition(":")
    return name if name and meant_for == path else None


def set_notice(response: Response, name: str, settings: Settings, path: str) -> None:
    """Set a notice for the page at `path`, to which the response redirects.

    The notice is in a cookie and not in the URL, so that opening a link cannot show the notice again.
    """
    _set(response, "notice", f"{name}:{path}", _NOTICE_SECONDS, settings)


def drop_notice(response: Response, settings: Settings) -> None:
    """Delete the notice, because its page has shown it."""
    _set(response, "notice", "", 0, settings)


def read_answer(request: Request, settings: Settings) -> str:
    """Return the stored response to an anonymous visitor's form; empty if there is none.

    The response is encrypted by `post_redirect_get`.
    """
    return request.cookies.get(_name("answer", settings), "")


def set_answer(response: Response, answer: str, settings: Settings) -> None:
    """Store the response to an anonymous visitor's form in the browser. `answer` is encrypted."""
    _set(response, "answer", answer, _ANSWER_SECONDS, settings)


def read_email(request: Request, settings: Settings) -> str:
    """Return the email address of this browser's last sign-in; empty if none, or after signing out."""
    return unquote(request.cookies.get(_name("email", settings), ""))[:MAX_EMAIL_CHARACTERS]


def set_email(response: Response, email: str, settings: Settings) -> None:
    """Store the user's email address, to prefill the sign-in form once the session has expired."""
    _set(response, "email", quote(email), _DEVICE_SECONDS, settings)


def drop_email(response: Response, settings: Settings) -> None:
    """Delete the user's email address from the browser, because other people may use the browser."""
    _set(response, "email", "", 0, settings)


def read_density(request: Request, settings: Settings) -> str:
    """Return the density of this browser's lists; empty if none was chosen."""
    return request.cookies.get(_name("density", settings), "")


def set_density(response: Response, density: str, settings: Settings) -> None:
    """Store the density of this browser's lists."""
    _set(response, "density", density, _DEVICE_SECONDS, settings)


def read_list(request: Request, settings: Settings, monitor_id: UUID) -> str:
    """Return the query string of the list from which the monitor was opened; empty if none is stored."""
    led_to, _, query = request.cookies.get(_name("list", settings), "").partition(":")
    return query if led_to == str(monitor_id) else ""


def set_list(response: Response, query: str, settings: Settings, monitor_id: UUID) -> None:
    """Store for a day the query string of the list from which the monitor was opened."""
    _set(response, "list", f"{monitor_id}:{query}", _LIST_SECONDS, settings)


def csrf_token_of(token: str) -> str:
    """Return the CSRF token for a browser's forms, which is derived from `token` but does not reveal it."""
    return hmac.new(token.encode(), b"csrf", hashlib.sha256).hexdigest()


def is_csrf_token(sent: str, token: str) -> bool:
    """Return whether the CSRF token `sent` belongs to a browser's token. The comparison is constant-time."""
    return hmac.compare_digest(sent.encode(), csrf_token_of(token).encode())


def _sign(device: str, email: str, signing_key: SecretStr) -> str:
    key = hmac.digest(signing_key.get_secret_value().encode(), b"browser", hashlib.sha256)
    return hmac.new(key, f"{device} {email}".encode(), hashlib.sha256).hexdigest()


def _set(response: Response, name: str, value: str, max_age_seconds: int, settings: Settings) -> None:
    """Set a cookie that scripts cannot read and other sites cannot send with a form.

    The prefix `__Host-` prevents sibling domains from setting the cookie (RFC 6265bis §4.1.3.2).
    """
    response.set_cookie(
        _name(name, settings),
        value,
        max_age=max_age_seconds,
        path="/",
        secure=settings.session_cookie_secure,
        httponly=True,
        samesite="lax",
    )


def _name(name: str, settings: Settings) -> str:
    return f"__Host-{name}" if settings.session_cookie_secure else name
