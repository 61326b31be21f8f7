"""The environment that a page shows: live or sandbox.

The URL names the environment, so two tabs can show different ones. The path of a sandbox page is the live
page's path with the prefix `/sandbox`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SANDBOX = "/sandbox"

# Pages that both environments share: members, account, plan, articles, sign-in and assets.
_OF_BOTH = ("/settings/members", "/settings/account", "/settings/plan", "/articles", "/sign-", "/assets/")

_is_sandbox: ContextVar[bool] = ContextVar("is_sandbox", default=False)


def is_sandbox_shown() -> bool:
    """Return whether the page being served shows the sandbox."""
    return _is_sandbox.get()


def place_in_world(path: str) -> str:
    """Prefix a path with `/sandbox` if the sandbox is shown.

    A path that has the prefix, or that both environments share, is returned unchanged.
    """
    is_placed = path.startswith(_OF_BOTH) or f"{path}/".startswith(f"{SANDBOX}/")
    return f"{SANDBOX}{path}" if is_sandbox_shown() and not is_placed else path


def take_world(path: str) -> tuple[bool, str]:
    """Return whether a path has the `/sandbox` prefix, and the path without it."""
    inner = path.removeprefix(SANDBOX)
    is_sandbox = inner != path and inner[:1] in ("", "/") and not inner.startswith(_OF_BOTH)
    return (True, inner) if is_sandbox else (False, path)


@contextmanager
def showing(*, sandbox: bool) -> Iterator[None]:
    """Make all URLs point to the sandbox, or to the live environment, until the block ends."""
    token = _is_sandbox.set(sandbox)
    try:
        yield
    finally:
        _is_sandbox.reset(token)
