"""A failed validation in plain words: which field, and what it must be. Values are never echoed."""

from collections.abc import Mapping, Sequence

from jsonschema_rs import ValidationError

from monitoring.contract.document import Document, DocumentError, Json, Node
from monitoring.contract.problems import Problem

MAX_FIELD_CHARACTERS = 80
MAX_PROBLEM_CHARACTERS = 118  # with the field and ": " the sentence stays within 200

OWN_KEYWORDS = {"default", "nestedTooDeeply", "numberTooLarge", "repeated", "unreadable"}
"""Reasons beside those of JSON Schema that a document has words for; `default` stands in for any it lacks."""

# The field these speak of is one below the object that was judged.
ABOUT_A_CHILD = {"required": "property", "additionalProperties": "unexpected"}

INTO_A_CHILD = {"properties", "additionalProperties", "items"}

# How `nullable` beside a reference was put for the validator: there is no such step in the document.
NOT_IN_THE_DOCUMENT = "else"


class Sentences:
    """Plain words from the document: `x-problem` at a schema, else `x-problem-templates` by keyword."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._templates: Mapping[str, str] = document.root.get("x-problem-templates", {})
        self._type_words: Mapping[str, str] = document.root.get("x-type-words", {})
        if "default" not in self._templates:
            raise DocumentError("x-problem-templates has no default")

    def invalid_field(self, field: Sequence[str | int] | str, keyword: str, **facts: Json) -> Problem:
        """Name a field and what the keyword's template says about it."""
        template = self._templates.get(keyword, self._templates["default"])
        return _invalid_field(
            field, template.format_map({name: _words(fact) for name, fact in facts.items()})
        )

    def explain(self, error: ValidationError, schema: Node, root_field: str) -> Problem:
        """Turn a validation error into `invalid_field`; `root_field` names the value as a whole."""
        keyword, facts = error.kind.name, error.kind.as_dict()
        if keyword in ABOUT_A_CHILD:
            child = facts[ABOUT_A_CHILD[keyword]]
            name = child if isinstance(child, str) else child[0]
            return self.invalid_field([*error.instance_path, name], keyword, **facts)
        field = error.instance_path or [root_field]
        if written := self._problem_at(schema, error.evaluation_path):
            return _invalid_field(field, written)
        if keyword == "type":
            types = sorted(facts["types"], key=lambda name: name == "null")
            facts["types"] = " or ".join(self._type_words.get(name, name) for name in types)
        return self.invalid_field(field, keyword, **facts)

    def _problem_at(self, schema: Node, evaluation_path: Sequence[str | int]) -> str | None:
        """Return the `x-problem` nearest to the failing keyword that speaks of the same value."""
        node: Json = schema
        found: str | None = schema.get("x-problem")
        for step in evaluation_path:
            if step == NOT_IN_THE_DOCUMENT:
                continue
            if step in INTO_A_CHILD:
                found = None
            node = self._document.follow(node) if step == "$ref" else _step_into(node, step)
            if not isinstance(node, dict | list):
                break
            if isinstance(node, dict):
                found = node.get("x-problem", found)
        return found


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
