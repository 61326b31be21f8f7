"""Sends a request to an engine's HTTP API and parses the JSON response."""

from typing import Any

import httpx2

from monitoring.articles.translation.engines.http_errors import no_answer
from monitoring.articles.translation.engines.throttle import Throttle


def exchange_json(
    engine: str,
    client: httpx2.Client,
    throttle: Throttle,
    method: str,
    path: str,
    **request: Any,  # noqa: ANN401 (what httpx2 takes)
) -> tuple[httpx2.Response, Any]:
    """Send a request once. Returns the response and its parsed JSON, which is None if the body is not JSON.

    Raises `TransientEngineError` if there is no response.
    """
    try:
        with throttle.turn():
            response = client.request(method, path, **request)
        return response, response.json()
    except httpx2.HTTPError as error:
        raise no_answer(engine, error) from None
    except ValueError:
        return response, None
