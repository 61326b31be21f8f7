"""Validators for the schemas of the document, each compiled when it is first asked (jsonschema-rs)."""

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
    """A response of ours that the document does not allow."""


class Rule:
    """A schema, compiled when something is first held to it: that takes 4 ms, and up to 1.5 MiB."""

    def __init__(self, schema: Node, registry: Registry) -> None:
        self._schema = schema
        self._registry = registry

    @cached_property
    def validator(self) -> Draft202012Validator:
        """What the schema is compiled to."""
        return Draft202012Validator(
            with_absolute_references(self._schema),
            registry=self._registry,
            validate_formats=True,
            pattern_options=RegexOptions(),  # linear time, whatever the text
            mask="value",
            offline=True,
        )


class Validation:
    """Makes checks of schemas as the document writes them. `rules` has those it made so far."""

    def __init__(self, document: Document) -> None:
        self.sentences = Sentences(document)
        self.rules: dict[bytes, Rule] = {}
        self._document = document
        self._registry = Registry([(DOCUMENT_URI, dict(document.root))], draft=jsonschema_rs.Draft202012)

    def request_check(self, schema: Node, root_field: str) -> Check:
        """Return a check that raises `invalid_field` for the first thing wrong."""
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
        """Return a check by the one schema that the discriminator chooses, so that it can name what is wrong.

        Each schema of a union demands its own value of the discriminator. So no other one could take what
        this one refuses.
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
        """Return a check like `request_check`, with whatever else is wrong in `others`."""
        rule = self._rule_of(schema)

        def check(value: Json) -> None:
            errors = list(rule.validator.iter_errors(value))
            if errors:
                problem, *others = [self.sentences.explain(error, schema, root_field) for error in errors]
                problem.others = others
                raise problem

        return check

    def response_check(self, schema: Node) -> Check:
        """Return a check that raises BrokenPromise; its text is for the log and holds no values."""
        rule = self._rule_of(schema)

        def check(value: Json) -> None:
            try:
                rule.validator.validate(value)
            # Any other error means that JSON cannot carry the value.
            except (ValueError, TypeError) as error:
                where = ".".join(map(str, getattr(error, "instance_path", ())))
                raise BrokenPromise(f"body {where}: {getattr(error, 'message', error)}") from None

        return check

    def _rule_of(self, schema: Node) -> Rule:
        """Return the rule of a schema. Operations share schemas, and so their rules."""
        return self.rules.setdefault(_digest_of(schema), Rule(schema, self._registry))


def _digest_of(schema: Node) -> bytes:
    """Digest a schema. Equal ones have the same digest, which takes less memory than their content."""
    return sha256(orjson.dumps(schema)).digest()


@lru_cache(maxsize=1)
def rules_of(document: Document) -> Validation:
    """Return a document's rules. The API and the app share them, and all that is compiled."""
    return Validation(document)
