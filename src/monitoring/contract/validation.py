"""Validators for the document's schemas, each compiled on first use (jsonschema-rs)."""

from collections.abc import Callable
from functools import cached_property, lru_cache
from hashlib import sha256

import jsonschema_rs
import orjson
from jsonschema_rs import Draft202012Validator, RegexOptions, Registry, ValidationError

from monitoring.contract.document import Document, Json, Node
from monitoring.contract.schemas import DOCUMENT_URI, with_absolute_references
from monitoring.contract.sentences import Sentences

Check = Callable[[Json], None]


class BrokenPromise(Exception):  # noqa: N818 - named after what it means for the caller
    """One of our responses is not allowed by the document."""


class Rule:
    """A schema that is compiled when it is first used. Compiling takes 4 ms and up to 1.5 MiB."""

    def __init__(self, schema: Node, registry: Registry) -> None:
        self._schema = schema
        self._registry = registry

    @cached_property
    def validator(self) -> Draft202012Validator:
        """The compiled schema."""
        return Draft202012Validator(
            with_absolute_references(self._schema),
            registry=self._registry,
            validate_formats=True,
            pattern_options=RegexOptions(),  # linear time, whatever the text
            mask="value",
            offline=True,
        )


class Validation:
    """Creates validating functions for the document's schemas. `rules` caches the compiled schemas."""

    def __init__(self, document: Document) -> None:
        self.sentences = Sentences(document)
        self.rules: dict[bytes, Rule] = {}
        self._document = document
        self._registry = Registry([(DOCUMENT_URI, dict(document.root))], draft=jsonschema_rs.Draft202012)

    def request_check(self, schema: Node, root_field: str) -> Check:
        """Return a check of request values, which raises an `invalid_field` Problem for the first error."""
        if "discriminator" in (union := self._document.follow(schema)):
            return self._union_check(union, root_field)
        rule = self._rule_of(schema)

        def check(value: Json) -> None:
            try:
                rule.validator.validate(value)
            except ValidationError as error:
                raise self.sentences.explain(error, schema, root_field) from None

        return check

    def _union_check(self, union: Node, root_field: str) -> Check:
        """Return a check that uses only the schema that the discriminator selects.

        This makes error messages specific. Each schema of a union requires its own discriminator value, so no
        other schema could accept a value that the selected one refuses.
        """
        name = union["discriminator"]["propertyName"]
        checks = {
            value: self.request_check({"$ref": reference}, root_field)
            for value, reference in union["discriminator"]["mapping"].items()
        }

        def check(value: Json) -> None:
            if not isinstance(value, dict):
                raise self.sentences.invalid_field(root_field, "type", types="an object")
            if name not in value:
                raise self.sentences.invalid_field(name, "required")
            kind = value[name]
            if not isinstance(kind, str) or kind not in checks:
                raise self.sentences.wrong_kind(union, name)
            checks[kind](value)

        return check

    def form_check(self, schema: Node, root_field: str) -> Check:
        """Return a check like that of `request_check`. Its Problem lists all further errors in `others`."""
        rule = self._rule_of(schema)

        def check(value: Json) -> None:
            errors = list(rule.validator.iter_errors(value))
            if errors:
                problem, *others = [self.sentences.explain(error, schema, root_field) for error in errors]
                problem.others = others
                raise problem

        return check

    def response_check(self, schema: Node) -> Check:
        """Return a check of response bodies, which raises BrokenPromise.

        The error's message is for the log and contains no values.
        """
        rule = self._rule_of(schema)

        def check(value: Json) -> None:
            try:
                rule.validator.validate(value)
            # Any other error means that JSON cannot represent the value.
            except (ValueError, TypeError) as error:
                where = ".".join(map(str, getattr(error, "instance_path", ())))
                raise BrokenPromise(f"body {where}: {getattr(error, 'message', error)}") from None

        return check

    def _rule_of(self, schema: Node) -> Rule:
        """Return a schema's rule. Equal schemas share one rule."""
        return self.rules.setdefault(_digest_of(schema), Rule(schema, self._registry))


def _digest_of(schema: Node) -> bytes:
    """Return a schema's hash, which identifies equal schemas in less memory than their content."""
    return sha256(orjson.dumps(schema)).digest()


@lru_cache(maxsize=1)
def rules_of(document: Document) -> Validation:
    """Return a document's validation. The API and the app share it and its compiled schemas."""
    return Validation(document)
