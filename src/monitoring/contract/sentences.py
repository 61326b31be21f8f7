"""Validation error messages, which name the field and its constraint. Values are never echoed."""

import re
from collections.abc import Iterator, Mapping, Sequence

import idna
from jsonschema_rs import ValidationError

from monitoring.contract.document import Document, DocumentError, Json, Node
from monitoring.contract.problems import Problem

MAX_FIELD_CHARACTERS = 80
MAX_PROBLEM_CHARACTERS = 118  # with the field's name and ": ", at most 200

# If one of these keywords of an object's schema fails, the error is about one of the object's fields. Each
# keyword's value is the name of the error's attribute that contains the field's name.
ABOUT_A_CHILD = {"required": "property", "additionalProperties": "unexpected"}

INTO_A_CHILD = {"properties", "patternProperties", "additionalProperties", "items"}

_HOST = re.compile(r"https?://(?:[^/?#@]*@)?([^/?#:\[\]@]+)")
_LOST_PLUS = re.compile(r"[Tt]\S+ \d\d:\d\d")


class Sentences:
    """Error messages from the document: a schema's `x-problem`, or else a keyword's `x-problem-templates`.

    Three more keywords have messages for common mistakes. `x-problem-international-host` replaces `x-problem`
    for a URL with a non-ASCII host. `x-problem-lost-plus` does so for a time whose offset follows a space,
    because `+` means a space in a query. `x-problem-if-found` lists messages to report instead of "is
    required" if an object has certain fields.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._templates: Mapping[str, str] = document.root.get("x-problem-templates", {})
        self._type_words: Mapping[str, str] = document.root.get("x-type-words", {})
        if "default" not in self._templates:
            raise DocumentError("x-problem-templates has no default")

    def invalid_field(self, field: Sequence[str | int] | str, keyword: str, **facts: Json) -> Problem:
        """Return an `invalid_field` Problem for a field, with the message of the keyword's template."""
        template = self._templates.get(keyword, self._templates["default"])
        return _invalid_field(
            field, template.format_map({name: _words(fact) for name, fact in facts.items()})
        )

    def wrong_kind(self, union: Node, field: str) -> Problem:
        """Return an `invalid_field` Problem for a discriminator that names none of a union's schemas."""
        return _invalid_field(field, union["x-problem"])

    def explain(self, error: ValidationError, schema: Node, root_field: str) -> Problem:
        """Convert a validation error to an `invalid_field` Problem.

        `root_field` is the name of the field if the error is about the root value.
        """
        keyword, facts = error.kind.name, error.kind.as_dict()
        if keyword == "anyOf" and (nested := _error_beside_null(facts["context"])):
            return self.explain(nested, schema, root_field)
        if keyword in ABOUT_A_CHILD:
            child = facts[ABOUT_A_CHILD[keyword]]
            name = child if isinstance(child, str) else child[0]
            if keyword == "required" and (hint := self._hint_for(error, schema)):
                return _invalid_field([*error.instance_path, name], hint)
            return self.invalid_field([*error.instance_path, name], keyword, **facts)
        field = error.instance_path or [root_field]
        if written := self._problem_at(schema, error.evaluation_path):
            return _invalid_field(field, _problem_for(written, error))
        if keyword == "type":
            types = sorted(facts["types"], key=lambda name: name == "null")
            facts["types"] = " or ".join(self._type_words.get(name, name) for name in types)
        return self.invalid_field(field, keyword, **facts)

    def _problem_at(self, schema: Node, evaluation_path: Sequence[str | int]) -> Node | None:
        """Return the innermost schema with `x-problem` that applies to the failed value, or None."""
        found: Node | None = None
        for step, node in self._walk(schema, evaluation_path):
            if step in INTO_A_CHILD:
                found = None
            if isinstance(node, dict) and "x-problem" in node:
                found = node
        return found

    def _hint_for(self, error: ValidationError, schema: Node) -> str | None:
        """Return the `x-problem-if-found` message for an object that lacks a field. None if none applies."""
        *_, (_, node) = self._walk(schema, error.evaluation_path[:-1])
        hints = node.get("x-problem-if-found", ()) if isinstance(node, dict) else ()
        sent = error.instance if hints else None
        return next(
            (hint["problem"] for hint in hints if all(_has(sent, path) for path in hint["found"])), None
        )

    def _walk(
        self, schema: Node, evaluation_path: Sequence[str | int]
    ) -> Iterator[tuple[str | int | None, Json]]:
        """Yield None with the schema, then each step of the path with the node that it leads to."""
        node: Json = schema
        yield None, node
        for step in evaluation_path:
            node = self._document.follow(node) if step == "$ref" else _step_into(node, step)
            if not isinstance(node, dict | list):
                return
            yield step, node


def _error_beside_null(context: Sequence[Sequence[ValidationError]]) -> ValidationError | None:
    """Return the error of the only alternative besides null. None if there are several alternatives."""
    first_errors = [errors[0] for errors in context]
    others = [error for error in first_errors if error.kind.as_dict().get("types") != ["null"]]
    return others[0] if len(others) == 1 else None


def _has(value: Json, path: str) -> bool:
    """Return whether an object has the field at a dotted path such as `post.current`."""
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return True


def _problem_for(schema: Node, error: ValidationError) -> str:
    template: str | None = schema.get("x-problem-international-host")
    if template and isinstance(error.instance, str) and (host := _ascii_host_of(error.instance)):
        return template.format(host=host)
    problem: str = schema["x-problem"]
    if isinstance(error.instance, str) and _LOST_PLUS.search(error.instance):
        problem = schema.get("x-problem-lost-plus", problem)
    return problem


def _ascii_host_of(url: str) -> str | None:
    """Return the `xn--` form of a URL's host (RFC 5891). None if the host is ASCII or has no such form."""
    matched = _HOST.match(url)
    if not matched or matched[1].isascii():
        return None
    try:
        return idna.encode(matched[1], uts46=True).decode()
    except idna.IDNAError:
        return None


def _step_into(node: Json, step: str | int) -> Json:
    try:
        return node[step]
    except (KeyError, IndexError, TypeError):
        return None


def _invalid_field(field: Sequence[str | int] | str, problem: str) -> Problem:
    path = field if isinstance(field, str) else ".".join(map(str, field))
    printable = "".join(character if character.isprintable() else "?" for character in path)
    return Problem(
        "invalid_field", field=printable[:MAX_FIELD_CHARACTERS], problem=problem[:MAX_PROBLEM_CHARACTERS]
    )


def _words(fact: Json) -> str:
    return ", ".join(map(_words, fact)) if isinstance(fact, list) else "null" if fact is None else str(fact)
