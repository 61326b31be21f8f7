"""Test servers that implement the documented protocols of translation engines, including limits and refusals.

They translate a text into capital letters.
"""

from __future__ import annotations

import html
import json
import re
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Mapping

KEY = "a-secret-key-of-the-engine"


@dataclass(frozen=True)
class Question:
    """A received request."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)


@dataclass(frozen=True)
class Reply:
    """A response to send. A body of type bytes is sent unchanged."""

    status: int
    body: Any = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)


SILENCE = Reply(0)  # the connection stays open, but nothing is sent
HANG_UP = Reply(0)  # the connection is closed without a response


def in_capitals(text: str) -> str:
    """Translate a text into capital letters, except for tags and character references."""
    return re.sub(r"(<[^>]*>|&#?\w+;)|[^<&]+", lambda part: part[1] or part[0].upper(), text)


class TranslationServer(ThreadingHTTPServer):
    """An HTTP server that listens on a free loopback port inside its context."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.translate = in_capitals
        self.questions: list[Question] = []
        self._replies: deque[Reply] = deque()
        self._closed = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self.shutdown()
        self.server_close()

    def reply_next(self, *replies: Reply) -> None:
        """Use these replies for the next requests, whatever they contain."""
        self._replies.extend(replies)

    def reply(self, question: Question) -> Reply | None:
        """Store a request, and return the reply to it, or None if there is no response."""
        self.questions.append(question)
        reply = self._replies.popleft() if self._replies else self.answer(question)
        if reply is SILENCE:
            self._closed.wait()
        return None if reply in (SILENCE, HANG_UP) else reply

    def answer(self, question: Question) -> Reply:
        """Return the documented response."""
        raise NotImplementedError


class _Handler(BaseHTTPRequestHandler):
    server: TranslationServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        question = Question(self.command, url.path, parse_qs(url.query), self.headers, raw)  # type: ignore[arg-type]
        reply = self.server.reply(question)
        if reply is None:
            self.close_connection = True
            return
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815 - http.server finds it by this name

    def log_message(self, *_: object) -> None:
        """Suppress request logs."""


class DeepLServer(TranslationServer):
    """`POST /v2/translate`, `GET /v3/languages`, and `GET` and `POST /v3/glossaries`."""

    max_texts = 50
    max_bytes = 128 * 1024
    max_glossaries = 1000
    # As in DeepL, Catalan has no tags, and only some languages support formality and glossaries.
    languages: Mapping[str, tuple[str, ...]] = {
        "ca": (),
        "de": ("formality", "glossary", "tag_handling"),
        "es": ("formality", "glossary", "tag_handling"),
        "fr": ("formality", "glossary", "tag_handling"),
        "it": ("formality", "glossary", "tag_handling"),
        "pt": ("glossary", "tag_handling"),
        "pt-BR": ("formality", "glossary", "tag_handling"),
        "pt-PT": ("formality", "glossary", "tag_handling"),
        "sv": ("tag_handling",),
        "zh-Hans": ("tag_handling",),
        "zh-Hant": ("tag_handling",),
    }

    def __init__(self) -> None:
        super().__init__()
        entries = {"source_lang": "en", "target_lang": "es", "entries": "", "entries_format": "tsv"}
        self.glossaries: list[dict[str, Any]] = [
            {"glossary_id": "a-glossary", "name": "An operator's", "dictionaries": [entries]}
        ]

    def answer(self, question: Question) -> Reply:
        if question.headers["Authorization"] != f"DeepL-Auth-Key {KEY}":
            return Reply(403, {"message": "Forbidden"})
        match question.method, question.path:
            case "GET", "/v3/languages" if question.query == {"resource": ["translate_text"]}:
                return Reply(200, [self._language(code) for code in ("en", *self.languages)])
            case "POST", "/v2/translate":
                return self._translated(question)
            case "GET", "/v3/glossaries":
                return Reply(200, {"glossaries": list(map(self._glossary, self.glossaries))})
            case "POST", "/v3/glossaries":
                return self._made_glossary(question.body)
            case _:
                return Reply(404, {"message": "Not found"})

    def _made_glossary(self, asked: dict[str, Any]) -> Reply:
        languages = {code.partition("-")[0] for code, known in self.languages.items() if "glossary" in known}
        if len(self.glossaries) >= self.max_glossaries:
            return Reply(456, {"message": "Too many glossaries"})
        if any(each["target_lang"].lower() not in languages for each in asked["dictionaries"]):
            return Reply(400, {"message": "Unsupported language pair"})
        self.glossaries.append({"glossary_id": f"glossary-{len(self.glossaries)}", **asked})
        return Reply(201, self._glossary(self.glossaries[-1]))

    @staticmethod
    def _glossary(made: dict[str, Any]) -> dict[str, Any]:
        dictionaries = [
            {
                "source_lang": each["source_lang"].lower(),
                "target_lang": each["target_lang"].lower(),
                "entry_count": len(each["entries"].splitlines()),
            }
            for each in made["dictionaries"]
        ]
        return made | {"dictionaries": dictionaries, "creation_time": "2026-01-01T00:00:00.000000Z"}

    def _entries(self, asked: dict[str, Any]) -> dict[str, str] | None:
        """Return the entries of a request's glossary for its languages, or None if there is no such one."""
        if "glossary_id" not in asked:
            return {}
        language = asked["target_lang"].partition("-")[0]
        return next(
            (
                dict(line.split("\t") for line in each["entries"].splitlines())
                for made in self.glossaries
                for each in made["dictionaries"]
                if (made["glossary_id"], each["target_lang"].upper()) == (asked["glossary_id"], language)
            ),
            None,
        )

    def _language(self, code: str) -> dict[str, Any]:
        features = {feature: {"status": "stable"} for feature in self.languages.get(code, ())}
        is_target = code in self.languages
        return {"lang": code, "name": code, "usable_as_target": is_target, "features": features}

    def _translated(self, question: Question) -> Reply:
        if len(question.raw) > self.max_bytes:
            return Reply(413, {"message": "Request size exceeds the limit"})
        asked = question.body
        if problem := self._problem_of(asked):
            return Reply(400, {"message": problem})
        entries = self._entries(asked)
        if entries is None:
            return Reply(404, {"message": "Glossary not found"})
        translate = self.translate if "tag_handling" in asked else _in_capitals_with_tags
        texts = []
        for text in asked["text"]:
            worded = text
            for term, translation in entries.items():
                worded = worded.replace(term, translation)
            texts.append(
                {"detected_source_language": "EN", "text": translate(worded), "billed_characters": len(text)}
            )
        return Reply(200, {"translations": texts})

    def _problem_of(  # noqa: PLR0911 - a line a rule
        self, asked: dict[str, Any]
    ) -> str | None:
        by_code = {code.upper(): features for code, features in self.languages.items()}
        features = by_code.get(asked["target_lang"])
        if features is None:
            return "Value for 'target_lang' not supported."
        if len(asked["text"]) > self.max_texts:
            return "Too many texts"
        if asked.get("formality") in ("more", "less") and "formality" not in features:
            return "'formality' is not supported for given 'target_lang'."
        if "glossary_id" in asked and "source_lang" not in asked:
            return "'source_lang' is required with a glossary."
        if "tag_handling" not in asked:
            return None
        if "tag_handling" not in features:
            return "'tag_handling' is not supported for given 'target_lang'."
        return (
            None if all(map(_is_xml, asked["text"])) else "Tag handling parsing failed, please check input."
        )


def _is_xml(text: str) -> bool:
    try:
        ET.fromstring(f"<text>{text}</text>")  # noqa: S314 - our own
    except ET.ParseError:
        return False
    return True


def _in_capitals_with_tags(text: str) -> str:
    return text.upper()  # this engine treats tags like any other text


class LibreTranslateServer(TranslationServer):
    """`POST /translate` and `GET /languages`, with an operator's limits and keys."""

    batch_limit = 30
    char_limit = 2000
    targets = ("ca", "es", "fr", "it", "nb", "pt", "pt-BR", "zh-Hans", "zh-Hant")

    def answer(self, question: Question) -> Reply:
        match question.method, question.path:
            case "GET", "/languages":
                languages = {"en": ["en", *self.targets], "es": ["en", "es"]}
                return Reply(
                    200, [{"code": code, "name": code, "targets": to} for code, to in languages.items()]
                )
            case "POST", "/translate":
                return self._translated(question.body)
            case _:
                return Reply(404, b"<!doctype html>")

    def _translated(self, asked: dict[str, Any]) -> Reply:
        too_much = "Invalid request: request (%d) exceeds text limit (%d)"
        texts = asked["q"]
        if "api_key" not in asked:
            return Reply(400, {"error": "Please contact the server operator to get an API key"})
        if asked["api_key"] != KEY:
            return Reply(403, {"error": "Invalid API key"})
        if len(texts) > self.batch_limit:
            return Reply(400, {"error": too_much % (len(texts), self.batch_limit)})
        for text in texts:
            if len(text) > self.char_limit:
                return Reply(400, {"error": too_much % (len(text), self.char_limit)})
        if asked["source"] != "en" or asked["target"] not in self.targets:
            return Reply(400, {"error": f"{asked['target']} is not supported"})
        assert asked["format"] == "html"
        return Reply(200, {"translatedText": [self._as_soup(text) for text in texts]})

    def _as_soup(self, text: str) -> str:
        """Return HTML as LibreTranslate's parser writes it.

        The parser writes no empty elements. References are resolved afterwards.
        """
        return html.unescape(re.sub(r"<(\w+)/>", r"<\1></\1>", self.translate(text)))


class OpenAIServer(TranslationServer):
    """`POST /chat/completions`, with a model that follows its instructions."""

    model = "a-model"
    knows_schemas = True
    max_answer_characters = 20_000
    refused_word = "\0"
    omitted: frozenset[str] = frozenset()  # numbers of texts that the model omits

    def answer(self, question: Question) -> Reply:
        if question.headers["Authorization"] != f"Bearer {KEY}":
            return _openai_error(401, f"Incorrect API key provided: {KEY[:4]}****.", "invalid_api_key")
        if (question.method, question.path) != ("POST", "/chat/completions"):
            return _openai_error(404, f"Unknown request URL: {question.path}", "unknown_url")
        asked = question.body
        if asked["model"] != self.model:
            return _openai_error(404, f"The model `{asked['model']}` does not exist", "model_not_found")
        texts: dict[str, str] = json.loads(asked["messages"][-1]["content"])
        if problem := self._problem_of_format(asked, texts):
            return _openai_error(400, problem, None)
        if any(self.refused_word in text for text in texts.values()):
            return self._completed(None, refusal="I cannot help with that.")
        answer = {
            number: self.translate(text) for number, text in texts.items() if number not in self.omitted
        }
        return self._completed(json.dumps(answer))

    def _problem_of_format(self, asked: dict[str, Any], texts: dict[str, str]) -> str | None:
        wanted = asked["response_format"]
        if wanted["type"] == "json_object":
            has_word = any("JSON" in message["content"] for message in asked["messages"])
            return None if has_word else "'messages' must contain the word 'json'"
        if not self.knows_schemas:
            return "This response_format type is unavailable now"
        schema = wanted["json_schema"]["schema"]
        is_strict = schema["required"] == list(schema["properties"]) and not schema["additionalProperties"]
        return None if is_strict and schema["required"] == list(texts) else "Invalid schema"

    def _completed(self, content: str | None, refusal: str | None = None) -> Reply:
        is_cut = content is not None and len(content) > self.max_answer_characters
        message = {
            "role": "assistant",
            "content": content and content[: self.max_answer_characters],
            "refusal": refusal,
        }
        choice = {"index": 0, "message": message, "finish_reason": "length" if is_cut else "stop"}
        return Reply(
            200,
            {
                "id": "chatcmpl-1",
                "object": "chat.completion",
                "created": 1,
                "model": self.model,
                "choices": [choice],
            },
        )


def _openai_error(status: int, message: str, code: str | None) -> Reply:
    return Reply(status, {"error": {"message": message, "type": "invalid_request_error", "code": code}})
