"""What the auth room builds on: a security handler judges a request and returns the caller."""

from abc import ABC, abstractmethod

from starlette.requests import Request
from starlette.types import Scope

from monitoring.contract.document import Node


class SecurityHandler(ABC):
    """One kind of security scheme.

    Of alternatives, one judges a request: the first whose header was sent, else the first. It judges
    everything that was sent, so that a bad token does not pass beside a good secret.
    """

    async def admit(self, request: Request, scheme: Node) -> None:
        """Let the caller in and note who it is, or raise Problem."""
        request.scope["state"]["caller"] = await self.let_in(request, scheme)

    @abstractmethod
    async def let_in(self, request: Request, scheme: Node) -> object:
        """Return the caller, or raise Problem."""


def header_of(scheme: Node) -> str:
    """Name the header that carries a scheme's credentials."""
    name: str = scheme["name"] if scheme["type"] == "apiKey" else "Authorization"
    return name


def caller_of(scope: Scope) -> object:
    """Return the caller whom security let in; None where the operation is open to all."""
    return scope.get("state", {}).get("caller")
