"""JSON bodies of answers held to their schema; what is written already and was checked before is known."""

from dataclasses import dataclass

from monitoring.contract.document import Document, Node
from monitoring.contract.replies import Reply, WrittenList
from monitoring.contract.validation import BrokenPromise, Validation, WrittenCheck

# If a schema says no more than this, its list can be judged item by item, and the rest without them.
_OF_THE_OBJECT = {"title", "description", "examples", "type", "required", "properties"}
_OF_THE_LIST = {"title", "description", "examples", "type", "maxItems", "items"}


@dataclass(frozen=True, slots=True)
class _ListRule:
    max_items: int
    check_item: WrittenCheck


class AnswerBody:
    """The JSON that one status of an operation may have."""

    def __init__(self, schema: Node, document: Document, validation: Validation) -> None:
        self._schema = schema
        self._document = document
        self._validation = validation
        self._check_value = validation.response_check(schema)
        self._check_written = validation.written_check(schema)
        self._list_rules: dict[str, _ListRule | None] = {}

    def check(self, reply: Reply) -> None:
        """Raise BrokenPromise for a body that the schema does not allow."""
        if isinstance(reply.body, bytes):
            self._check_written(reply.body)
        elif isinstance(reply.body, WrittenList) and (rule := self._rule_of(reply.body.name)):
            self._check_list(reply.body, rule)
        elif isinstance(reply.body, WrittenList):
            self._check_value(reply.json_value())
        else:
            self._check_value(reply.body)

    def _check_list(self, written: WrittenList, rule: _ListRule) -> None:
        self._check_value({written.name: [], **written.others})
        if len(written.items) > rule.max_items:
            raise BrokenPromise(f"body {written.name}: more than {rule.max_items} items")
        for item in written.items:
            rule.check_item(item)

    def _rule_of(self, name: str) -> _ListRule | None:
        if name not in self._list_rules:
            self._list_rules[name] = self._read_rule(name)
        return self._list_rules[name]

    def _read_rule(self, name: str) -> _ListRule | None:
        """Return how the items of a list are judged; None if the schema judges them together."""
        whole = self._document.follow(self._schema)
        listed = whole.get("properties", {}).get(name, {})
        if whole.keys() - _OF_THE_OBJECT or listed.keys() - _OF_THE_LIST or "maxItems" not in listed:
            return None
        return _ListRule(listed["maxItems"], self._validation.written_check(listed["items"]))
