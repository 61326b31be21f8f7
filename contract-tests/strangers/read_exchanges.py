"""Demand that openapi-core finds every recorded exchange lawful.

read_exchanges.py openapi.yaml exchanges.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from openapi_core import OpenAPI
from openapi_core.datatypes import RequestParameters
from werkzeug.datastructures import Headers, ImmutableMultiDict


class Request:
    """A request as openapi-core wants it."""

    def __init__(self, exchange: dict[str, str]) -> None:
        url = urlsplit(exchange["url"])
        self.host_url = f"{url.scheme}://{url.netloc}"
        self.path = url.path
        self.method = exchange["method"].lower()
        headers = Headers(exchange["request_headers"])
        self.content_type = headers.get("content-type", "")
        self.body = exchange["request_body"].encode()
        self.parameters = RequestParameters(query=ImmutableMultiDict(parse_qsl(url.query)), header=headers)


class Response:
    """An answer as openapi-core wants it."""

    def __init__(self, exchange: dict[str, str]) -> None:
        self.status_code = int(exchange["status"])
        self.headers = Headers(exchange["headers"])
        self.content_type = self.headers.get("content-type", "")
        self.data = exchange["body"].encode()


def main() -> None:
    """Read the exchanges one after the other; the first that is not lawful raises."""
    document, exchanges = sys.argv[1:]
    openapi = OpenAPI.from_file_path(document)
    for exchange in json.loads(Path(exchanges).read_text()):
        request, response = Request(exchange), Response(exchange)
        openapi.validate_request(request)
        openapi.validate_response(request, response)


if __name__ == "__main__":
    main()
