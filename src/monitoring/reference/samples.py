"""Generates minimal sample calls of API operations in three languages, from the document's examples."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import indent
from urllib.parse import quote, urlencode

from monitoring.contract.bodies import FORM
from monitoring.contract.document import JSON, Document, Json, Node, Operation


@dataclass(frozen=True, slots=True)
class Sample:
    """The code of a call in one language. `lexer` is Pygments' name for the language."""

    language: str
    lexer: str
    code: str


@dataclass(frozen=True, slots=True)
class _Call:
    """A call, from which the sample in each language is generated.

    A header value may end with a variable such as `$TOKEN`, which stands for an environment variable.
    """

    method: str
    target: str
    headers: dict[str, str]
    media_type: str
    body: Json
    answers_json: bool


def write_samples(document: Document, operation: Operation) -> tuple[Sample, ...]:
    """Return an operation's sample calls.

    The samples read the base URL and the credentials from environment variables.
    """
    call = _read_call(document, operation)
    return (
        Sample("curl", "bash", _curl(call)),
        Sample("Python", "python", _python(call)),
        Sample("TypeScript", "typescript", _typescript(call)),
    )


def _read_call(document: Document, operation: Operation) -> _Call:
    required = {
        place: {
            item["name"]: _example(document, item)
            for item in operation.parameters
            if item["in"] == place and item.get("required")
        }
        for place in ("path", "query", "header")
    }
    path = operation.path
    for name, text in required["path"].items():
        path = path.replace(f"{{{name}}}", quote(text))
    query = f"?{urlencode(required['query'])}" if required["query"] else ""
    bodies: Node = document.follow(operation.definition.get("requestBody", {})).get("content", {})
    media_type = next(iter(bodies), "")
    examples: Node = bodies[media_type].get("examples", {}) if media_type else {}
    answers = [answer for status, answer in operation.responses.items() if status.startswith("2")]
    return _Call(
        method=operation.method.upper(),
        target=path + query,
        headers=dict(_credentials(document, operation)) | required["header"],
        media_type=media_type,
        body=next((document.follow(example)["value"] for example in examples.values()), {}),
        answers_json=any(JSON in answer.get("content", {}) for answer in answers),
    )


def _example(document: Document, parameter: Node) -> str:
    schema = document.follow(parameter["schema"])
    return str(parameter.get("example", next(iter(schema.get("examples", ())), "")))


def _credentials(document: Document, operation: Operation) -> Iterator[tuple[str, str]]:
    alternatives = operation.definition.get("security", document.root.get("security", []))
    for name in next(iter(alternatives), {}):
        scheme = document.follow(document.root["components"]["securitySchemes"][name])
        if scheme["type"] == "http":
            yield "Authorization", f"{scheme['scheme'].capitalize()} $TOKEN"
        else:
            yield scheme["name"], "$SECRET"


def _curl(call: _Call) -> str:
    implied = "POST" if call.media_type else "GET"
    method = f" -X {call.method}" if call.method != implied else ""
    lines = [
        f'curl{method} "$URL{call.target}"',
        *(f'-H "{name}: {text}"' for name, text in call.headers.items()),
    ]
    if call.media_type == FORM:
        lines += [f"-d {shlex.quote(urlencode({name: text}))}" for name, text in call.body.items()]
    elif call.media_type:
        text = call.body if isinstance(call.body, str) else _json(call.body)
        lines += [f"-H 'Content-Type: {call.media_type}'", f"-d {shlex.quote(text)}"]
    return " \\\n  ".join(lines)


def _python(call: _Call) -> str:
    arguments = [f'os.environ["URL"] + "{call.target}"']
    if call.headers:
        written = (f'"{name}": {_python_text(text)}' for name, text in call.headers.items())
        arguments.append(f"headers={_python_block('{', written, '}')}")
    if call.media_type:
        keyword = "data" if call.media_type == FORM or isinstance(call.body, str) else "json"
        arguments.append(f"{keyword}={_python_literal(call.body)}")
    asked = _python_block("(", [*arguments, "timeout=30"], ")")
    return "\n".join(
        (
            "import os",
            "import requests",
            "",
            f"answer = requests.{call.method.lower()}{asked}",
            "answer.raise_for_status()",
            f"print({'answer.json()' if call.answers_json else 'answer.text'})",
        )
    )


def _python_block(opening: str, lines: Iterable[str], closing: str) -> str:
    inside = "".join(f"{line},\n" for line in lines)
    return f"{opening}\n{indent(inside, '    ')}{closing}"


def _python_literal(value: Json) -> str:
    if isinstance(value, dict):
        return _python_block(
            "{", (f"{_json(key)}: {_python_literal(item)}" for key, item in value.items()), "}"
        )
    if isinstance(value, list):
        return f"[{', '.join(map(_python_literal, value))}]"
    return _json(value) if isinstance(value, str) else repr(value)


def _python_text(text: str) -> str:
    words, _, variable = text.partition("$")
    if not variable:
        return _json(words)
    return f"f\"{words}{{os.environ['{variable}']}}\"" if words else f'os.environ["{variable}"]'


def _typescript(call: _Call) -> str:
    headers = {name: _template(text) for name, text in call.headers.items()}
    options = [f'method: "{call.method}"'] if call.method != "GET" else []
    if call.media_type and call.media_type != FORM:
        headers["Content-Type"] = f'"{call.media_type}"'
    if headers:
        written = "".join(f'    "{name}": {text},\n' for name, text in headers.items())
        options.append(f"headers: {{\n{written}  }}")
    if call.media_type:
        wrapper = "new URLSearchParams" if call.media_type == FORM else "JSON.stringify"
        if isinstance(call.body, str):
            wrapper = ""
        options.append(f"body: {wrapper}({_json(call.body)})".replace("\n", "\n  "))
    given = "".join(f"  {option},\n" for option in options)
    shown = "json" if call.answers_json else "text"
    return (
        f"const answer = await fetch(`${{process.env.URL}}{call.target}`"
        f"{f', {{{chr(10)}{given}}}' if given else ''});\n"
        f"if (!answer.ok) throw new Error(await answer.text());\nconsole.log(await answer.{shown}());"
    )


def _template(text: str) -> str:
    words, _, variable = text.partition("$")
    return f"`{words}${{process.env.{variable}}}`" if variable else f'"{words}"'


def _json(value: Json) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
