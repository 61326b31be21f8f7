"""What the auth room builds on: a security handler judges a request and says who the caller is."""

from abc import abstractmethod
from collections.abc import Awaitable, Callable

from connexion.middleware.security import SecurityAPI, SecurityMiddleware, SecurityOperation
from connexion.operations.abstract import AbstractOperation
from connexion.security import AbstractSecurityHandler
from connexion.spec import Specification
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from monitoring.contract.document import Node
from monitoring.contract.routing import DirectlyRouted


class SecurityHandler(AbstractSecurityHandler):
    """One kind of security scheme.

    Connexion tries OR-ed alternatives until one succeeds, which lets a bad token pass beside a good secret:
    give every operation one alternative, and judge here everything that was sent.
    """

    def get_fn(
        self,
        security_scheme: Node,
        required_scopes: list[str],  # noqa: ARG002 - Connexion's interface
    ) -> Callable[[Request], Awaitable[dict[str, object]]]:
        """Return the function Connexion calls for every request."""

        async def verify(request: Request) -> dict[str, object]:
            return {"caller": await self.let_in(request, security_scheme)}

        return verify

    @abstractmethod
    async def let_in(self, request: Request, scheme: Node) -> object:
        """Return the caller, or raise Problem."""


class _GuardedRequest(Request):
    @property
    def context(self) -> dict[str, object]:
        """Where Connexion leaves whom it let in."""
        context: dict[str, object] = self.scope["extensions"].setdefault("connexion_context", {})
        return context


class _GuardedOperation(SecurityOperation):
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve whom Connexion's security lets in; it is asked with a request that costs little to make."""
        if self.security:
            await self.verification_fn(_GuardedRequest(scope))
        await self.next_app(scope, receive, send)


class _GuardedAPI(SecurityAPI):
    def make_operation(self, operation: AbstractOperation | Specification) -> SecurityOperation:
        """Guard an operation as its `security` says."""
        return _GuardedOperation.from_operation(
            operation, next_app=self.next_app, security_handler_factory=self.security_handler_factory
        )


class Security(DirectlyRouted[SecurityAPI], SecurityMiddleware):
    """Lets nobody reach an operation whom its security handlers refuse."""

    api_cls = _GuardedAPI


def caller_of(scope: Scope) -> object:
    """Whom security let in; None where the operation is open to all."""
    return scope["extensions"].get("connexion_context", {}).get("token_info", {}).get("caller")
