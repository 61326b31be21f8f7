"""The base class of security handlers, which authenticate requests and return the caller."""

from abc import ABC, abstractmethod

from starlette.requests import Request
from starlette.types import Scope

from monitoring.contract.document import Node


class SecurityHandler(ABC):
    """The authentication of one kind of security scheme.

    Only one of an operation's security alternatives verifies a request: the first whose header was sent, or
    the first alternative if no such header was sent. Its handler verifies every credential in the request, so
    a valid secret with an invalid token is refused.
    """

    async def admit(self, request: Request, scheme: Node) -> None:
        """Authenticate the caller and store it in the request's state. Raises Problem."""
        request.scope["state"]["caller"] = await self.let_in(request, scheme)

    @abstractmethod
    async def let_in(self, request: Request, scheme: Node) -> object:
        """Authenticate and return the caller, or raise Problem."""


def header_of(scheme: Node) -> str:
    """Return the name of the header that carries a scheme's credentials."""
    name: str = scheme["name"] if scheme["type"] == "apiKey" else "Authorization"
    return name


def caller_of(scope: Scope) -> object:
    """Return the authenticated caller. None if there is none, as for public operations."""
    return scope.get("state", {}).get("caller")
