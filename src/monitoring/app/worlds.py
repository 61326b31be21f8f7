"""Which world a page shows: its address says so, so that two tabs can show one each.

A page of the sandbox has the address of the live one, with `/sandbox` before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SANDBOX = "/sandbox"

# Pages about people and about the team as a whole, and what all pages share. A sandbox has none of its own.
_OF_BOTH = ("/settings/members", "/settings/account", "/settings/plan", "/articles", "/sign-", "/assets/")

_is_sandbox: ContextVar[bool] = ContextVar("is_sandbox", default=False)


def is_sandbox_shown() -> bool:
    """Return whether the page that is being served shows the sandbox."""
    return _is_sandbox.get()


def place_in_world(path: str) -> str:
    """Return where the page with this path is in the world that is shown. A path with a world keeps it."""
    is_placed = path.startswith(_OF_BOTH) or f"{path}/".startswith(f"{SANDBOX}/")
    return f"{SANDBOX}{path}" if is_sandbox_shown() and not is_placed else path


def take_world(path: str) -> tuple[bool, str]:
    """Return whether a path is a sandbox's, and the path without its world."""
    inner = path.removeprefix(SANDBOX)
    is_sandbox = inner != path and inner[:1] in ("", "/") and not inner.startswith(_OF_BOTH)
    return (True, inner) if is_sandbox else (False, path)


@contextmanager
def showing(*, sandbox: bool) -> Iterator[None]:
    """Have all addresses lead to pages of this world, until the block ends."""
    token = _is_sandbox.set(sandbox)
    try:
        yield
    finally:
        _is_sandbox.reset(token)
