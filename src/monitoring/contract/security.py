"""What the auth room builds on: a security handler judges a request and says who the caller is."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable

from connexion.lifecycle import ConnexionRequest
from connexion.security import AbstractSecurityHandler
from starlette.requests import Request
from starlette.types import Scope

from monitoring.contract.document import Node


class SecurityHandler(AbstractSecurityHandler):
    """One kind of security scheme.

    Connexion tries OR-ed alternatives until one succeeds, which lets a bad token pass beside a good secret:
    give every operation one alternative, and judge here everything that was sent.
    """

    def get_fn(
        self,
        security_scheme: Node,
        required_scopes: list[str],  # noqa: ARG002 - Connexion's interface
    ) -> Callable[[ConnexionRequest], Awaitable[dict[str, object]]]:
        """Return the function Connexion calls for every request."""

        async def verify(request: ConnexionRequest) -> dict[str, object]:
            return {"caller": await self.let_in(Request(request.scope), security_scheme)}

        return verify

    @abstractmethod
    async def let_in(self, request: Request, scheme: Node) -> object:
        """Return the caller, or raise Problem."""


def caller_of(scope: Scope) -> object:
    """Whom security let in; None where the operation is open to all."""
    return scope["extensions"].get("connexion_context", {}).get("token_info", {}).get("caller")
