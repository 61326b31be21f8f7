"""The connection of DeepL's package, without its retries: a request is sent once, then fails or succeeds."""

import json as json_format
from typing import TYPE_CHECKING, Any, cast

import deepl

from monitoring.articles.translation.engines.batches import BatchRefused
from monitoring.articles.translation.engines.pacing import Pace
from monitoring.articles.translation.engines.refusals import judge_status, no_answer

if TYPE_CHECKING:
    import requests

_SUCCESS, _TOO_LARGE = range(200, 300), 413


class DeepLConnection(deepl.http_client.HttpClient):
    """Sends each request when it has its turn. No thread sleeps for a retry: the worker tries again later."""

    def __init__(self, api_key: str, timeout_seconds: float, pace: Pace) -> None:
        super().__init__(send_platform_info=False)
        self._api_key = api_key
        self._timeout_seconds = timeout_seconds
        self._pace = pace

    def request_with_backoff(  # noqa: PLR0913, PLR0917 (as the package calls it)
        self,
        method: str,
        url: str,
        data: dict[str, Any] | None,
        json: dict[str, Any] | None,
        headers: dict[str, str],
        stream: bool = False,  # noqa: ARG002, FBT001, FBT002
        *,
        timeout_seconds: float = float("inf"),
        **_: Any,  # noqa: ANN401
    ) -> tuple[int, str]:
        """Exchange once. Raises BatchRefused or an engine's error for any answer that is not a success."""
        request = self._prepare_request(method, url, data, json, headers)
        timeout_seconds = min(timeout_seconds, self._timeout_seconds)
        try:
            with self._pace.turn():
                # As a stream, because the package shows no other answer's headers.
                status, response = self._internal_request(request, stream=True, timeout=timeout_seconds)
                with cast("requests.Response", response) as answered:
                    answer = answered.content.decode(errors="replace")
        except (deepl.ConnectionException, OSError) as error:
            raise no_answer("DeepL", error.__cause__ or error) from None
        if status in _SUCCESS:
            return status, answer
        if status == _TOO_LARGE:
            raise BatchRefused
        raise judge_status("DeepL", status, answered.headers, message=_message(answer), secret=self._api_key)


def _message(answer: str) -> object:
    try:
        told = json_format.loads(answer)
    except ValueError:
        return None
    return told.get("message") or told.get("Message") if isinstance(told, dict) else None
