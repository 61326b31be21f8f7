"""The traveller calls operations by the document alone, and compares every answer with it."""

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
    """Calls operations as the document describes them, and knows nothing else."""

    def __init__(self, service: RunningService) -> None:
        self._service = service
        self._credentials = {"webhookSecret": f"X-Webhook-Secret: {WEBHOOK_SECRET}"}
        self._website = {"id": str(uuid4())}

    def bear(self, token: Exchange) -> None:
        """Use a token from now on."""
        kind, text = token.answer.json["token_type"], token.answer.json["access_token"]
        self._credentials["bearerAuth"] = f"Authorization: {kind} {text}"

    def call(self, operation: Operation, body: Any = None, **values: str) -> Exchange:
        """Call an operation that the service is able to answer."""
        exchange = self.ask(operation, body, **values)
        assert exchange.answer.status < 500, f"{exchange.answer.status} {exchange.answer.body!r}"
        return exchange

    def ask(self, operation: Operation, body: Any = None, **values: str) -> Exchange:
        """Call an operation with a body or its first example. Values are its parameters by name.

        Every documented answer is accepted.
        """
        media_type, example = next(links.examples_of_body(operation), ("", None))
        if operation.operation_id == "deliver_article":  # others delete the article of the example's website
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
        """Call the target of an answer's link."""
        assert exchange.answer.status == link.status
        return self.call(link.target, body, **links.resolve(link, exchange))

    def walk(self, way: list[Link]) -> list[Exchange]:
        """Follow links one after the other, from an operation that needs no id; return every stop."""
        stops = [self.call(way[0].source)]
        for link in way:
            stops.append(self.follow(link, stops[-1]))
        return stops

    def reach(self, operation: Operation) -> Exchange:
        """Call an operation with its first example, along links if it takes an id."""
        if not links.needs_an_id(operation):
            return self.call(operation)
        arrival = next(link for link in links.all_links() if link.target == operation)
        return self.walk(links.way_to(arrival))[-1]


@contextmanager
def setting_out(service: RunningService) -> Iterator[Traveller]:
    """Yield a traveller with a new team's key for everything, exchanged for a token at the first stop."""
    with Player(service, form_readers(service), SCOPES) as player:
        traveller = Traveller(service)
        credentials = {"client_id": player.client_id, "client_secret": player.client_secret}
        traveller.bear(traveller.call(OPERATIONS["issue_token"], credentials))
        yield traveller


def _encode(media_type: str, body: Any) -> bytes:
    if not media_type:
        return b""
    return urlencode(body).encode() if media_type == FORM else json.dumps(body).encode()
