"""The traveller calls operations using only the document, and compares every response with it."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import uuid4

import links
import promises
from cast import Player, form_readers
from links import Exchange, Link
from monitoring.auth.scopes import SCOPES
from promises import OPERATIONS
from running_service import WEBHOOK_SECRET

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.contract.document import Operation
    from running_service import RunningService

FORM = "application/x-www-form-urlencoded"


class Traveller:
    """Calls operations as the document describes them, without any other knowledge of the API."""

    def __init__(self, service: RunningService) -> None:
        self._service = service
        self._credentials = {"webhookSecret": f"X-Webhook-Secret: {WEBHOOK_SECRET}"}
        self._website = {"id": str(uuid4())}

    def bear(self, token: Exchange) -> None:
        """Use a token for all further requests."""
        kind, text = token.answer.json["token_type"], token.answer.json["access_token"]
        self._credentials["bearerAuth"] = f"Authorization: {kind} {text}"

    def call(self, operation: Operation, body: Any = None, **values: str) -> Exchange:
        """Call an operation, assert that there is no server error, and return the exchange."""
        exchange = self.ask(operation, body, **values)
        assert exchange.answer.status < 500, f"{exchange.answer.status} {exchange.answer.body!r}"
        return exchange

    def ask(self, operation: Operation, body: Any = None, **values: str) -> Exchange:
        """Call an operation with `body`, or with its first example if `body` is None.

        Every documented response is accepted.

        `values` are the operation's parameters by name.
        """
        media_type, example = next(links.examples_of_body(operation), ("", None))
        if operation.operation_id == "deliver_article":  # other tests delete the example's article
            example = {**(example or {}), "website": self._website}
        body = example if body is None else body
        places = {parameter["name"]: parameter["in"] for parameter in operation.parameters}
        query = {name: value for name, value in values.items() if places[name] == "query"}
        headers = [f"{name}: {value}" for name, value in values.items() if places[name] == "header"]
        alternatives = operation.definition["security"]
        headers += [self._credentials[name] for each in alternatives[:1] for name in each]
        headers += [f"Content-Type: {media_type}"] if media_type else []
        target = operation.path.format_map(values) + (f"?{urlencode(query)}" if query else "")
        method = operation.method.upper()
        answer = promises.ask(self._service, method, target, *headers, body=_encode(media_type, body))
        promises.judge(answer, operation.responses)
        return Exchange(target, method, values, body, answer)

    def follow(self, link: Link, exchange: Exchange, body: Any = None) -> Exchange:
        """Call the target of a link in a response."""
        assert exchange.answer.status == link.status
        return self.call(link.target, body, **links.resolve(link, exchange))

    def walk(self, way: list[Link]) -> list[Exchange]:
        """Follow a chain of links from an operation that needs no id, and return every exchange."""
        stops = [self.call(way[0].source)]
        for link in way:
            stops.append(self.follow(link, stops[-1]))
        return stops

    def reach(self, operation: Operation) -> Exchange:
        """Call an operation with its first example. If it takes an id, follow links to it first."""
        if not links.needs_an_id(operation):
            return self.call(operation)
        arrival = next(link for link in links.all_links() if link.target == operation)
        return self.walk(links.way_to(arrival))[-1]


@contextmanager
def setting_out(service: RunningService) -> Iterator[Traveller]:
    """Yield a traveller with a new team's key, which has all scopes and is exchanged for a token first."""
    with Player(service, form_readers(service), SCOPES) as player:
        traveller = Traveller(service)
        credentials = {"client_id": player.client_id, "client_secret": player.client_secret}
        traveller.bear(traveller.call(OPERATIONS["issue_token"], credentials))
        yield traveller


def _encode(media_type: str, body: Any) -> bytes:
    if not media_type:
        return b""
    return urlencode(body).encode() if media_type == FORM else json.dumps(body).encode()
