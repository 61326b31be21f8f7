"""LibreTranslate: a self-hosted server that translates into the languages installed on it."""

import logging
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

import httpx2

from monitoring.articles.translation.engines.batches import BatchRefused, ask_in_batches
from monitoring.articles.translation.engines.http_errors import judge_status, unreadable_answer
from monitoring.articles.translation.engines.json_exchange import exchange_json
from monitoring.articles.translation.engines.locales import closest_code
from monitoring.articles.translation.engines.protocol import (
    CHECK_TIMEOUT_SECONDS,
    BatchLimit,
    PermanentEngineError,
    TransientEngineError,
)
from monitoring.articles.translation.engines.throttle import Throttle

# Small, so that a server without a GPU, which translates a few sentences per second, finishes before the
# timeout.
LIMIT = BatchLimit(max_texts=20, max_bytes=8 * 1024)

# Matches the message of a 400 response if there were too many texts or the texts were too long.
_TOO_MUCH = "exceeds text limit"
_EMPTY_ELEMENT = re.compile(r"<(x\d+)>\s*</\1>")

log = logging.getLogger(__name__)


class LibreTranslate:
    """Translates English with `format=html`, which preserves codes but returns `<x1/>` as `<x1></x1>`."""

    name = "libretranslate"
    is_demonstration = False
    batch_limit = LIMIT

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        timeout_seconds: float = 30,
        throttle: Throttle | None = None,
    ) -> None:
        self._api_key = api_key or ""
        self._timeout_seconds = timeout_seconds
        self._throttle = throttle or Throttle()
        # The server must respond in English, because its error messages are searched for `_TOO_MUCH`.
        self._client = httpx2.Client(base_url=url, timeout=timeout_seconds, headers={"Accept-Language": "en"})
        self._targets: list[str] = []

    def check(self, locales: Sequence[str]) -> list[str]:
        """Return a message for each locale that the server does not support.

        If the server is unavailable, return no messages. Its languages are then requested before the first
        translation.
        """
        try:
            self._ask_targets(min(CHECK_TIMEOUT_SECONDS, self._timeout_seconds))
        except TransientEngineError as error:
            log.warning(
                "The languages of LibreTranslate are unknown, and will be requested with the first "
                "article: %s",
                error,
            )
            return []
        except PermanentEngineError as error:
            return [str(error)]
        return [
            f"LibreTranslate cannot translate into {locale}, but into {', '.join(self._targets)}"
            for locale in locales
            if closest_code(locale, self._targets) is None
        ]

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
        """Translate English segments."""
        if not self._targets:
            self._ask_targets(self._timeout_seconds)
        code = closest_code(target, self._targets)
        if code is None or source.partition("-")[0] != "en":
            raise PermanentEngineError(f"LibreTranslate cannot translate {source} into {target}")
        return ask_in_batches(segments, LIMIT, lambda batch: self._ask(batch, code))

    def close(self) -> None:
        """Close the connections. Threads that wait to send a request get an error."""
        self._throttle.close()
        self._client.close()

    def _ask(self, batch: Sequence[str], code: str) -> list[str]:
        question = {"q": list(batch), "source": "en", "target": code, "format": "html"}
        answer = self._exchange(
            "POST", "/translate", json=question | ({"api_key": self._api_key} if self._api_key else {})
        )
        texts = answer.get("translatedText") if isinstance(answer, dict) else None
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise unreadable_answer("LibreTranslate")
        return [_EMPTY_ELEMENT.sub(r"<\1/>", text) for text in texts]

    def _ask_targets(self, timeout_seconds: float) -> None:
        answer = self._exchange("GET", "/languages", timeout=timeout_seconds)
        try:
            targets = {language["code"]: language["targets"] for language in answer}
            self._targets = [target for target in targets.get("en", ()) if target != "en"]
        except (KeyError, TypeError) as error:
            raise unreadable_answer("LibreTranslate") from error

    def _exchange(self, method: str, path: str, **request: Any) -> Any:  # noqa: ANN401 (it is JSON)
        response, answer = exchange_json(
            "LibreTranslate", self._client, self._throttle, method, path, **request
        )
        if response.status_code == HTTPStatus.OK:
            return answer
        message = answer.get("error") if isinstance(answer, Mapping) else None
        if response.status_code == HTTPStatus.BAD_REQUEST and _TOO_MUCH in str(message):
            raise BatchRefused
        raise judge_status(
            "LibreTranslate", response.status_code, response.headers, message=message, secret=self._api_key
        )
