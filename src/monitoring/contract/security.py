"""What the auth room builds on: a security handler judges a request and says who the caller is."""

from abc import ABC, abstractmethod

from starlette.requests import Request
from starlette.types import Scope

from monitoring.contract.document import Node


class SecurityHandler(ABC):
    """One kind of security scheme.

    Connexion tries OR-ed alternatives until one succeeds, which lets a bad token pass beside a good secret:
    give every operation one alternative, and judge here everything that was sent.
    """

    async def admit(self, request: Request, scheme: Node) -> None:
        """Let the caller in and note who it is, or raise Problem."""
        request.scope["state"]["caller"] = await self.let_in(request, scheme)

    @abstractmethod
    async def let_in(self, request: Request, scheme: Node) -> object:
        """Return the caller, or raise Problem."""


def caller_of(scope: Scope) -> object:
    """Return the caller whom security let in; None where the operation is open to all."""
    return scope.get("state", {}).get("caller")
