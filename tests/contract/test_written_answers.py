from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from monitoring.contract.document import published_document
from monitoring.contract.replies import Reply, WrittenList
from monitoring.contract.validation import BrokenPromise, Validation
from monitoring.contract.written_answers import AnswerBody

if TYPE_CHECKING:
    from collections.abc import Sequence

    from monitoring.contract.document import Json

ANSWER = published_document().operations["get_monitor"].responses["200"]["content"]["application/json"]
MONITOR: dict[str, Any] = ANSWER["examples"]["storefront"]["value"]
WRITTEN = orjson.dumps(MONITOR)
LIST = {"$ref": "#/components/schemas/MonitorList"}
ITEM = {"$ref": "#/components/schemas/Monitor"}


class CountingValidation(Validation):
    """Counts the values that are parsed and judged."""

    judged = 0

    def response_check(self, schema: Any) -> Any:
        check = super().response_check(schema)

        def count(value: Json) -> None:
            self.judged += 1
            check(value)

        return count


@pytest.fixture
def validation() -> CountingValidation:
    return CountingValidation(published_document())


@pytest.fixture
def body(validation: CountingValidation) -> AnswerBody:
    return AnswerBody(LIST, published_document(), validation)


def page(items: Sequence[bytes], next_cursor: object = None) -> Reply:
    return Reply(WrittenList("monitors", items, {"next_cursor": next_cursor}))


def changed(**fields: Any) -> bytes:
    return orjson.dumps(MONITOR | fields)


class TestWrittenList:
    @pytest.mark.parametrize("items", [[], [WRITTEN], [WRITTEN, changed(name="b")]])
    def test_is_the_object_that_orjson_would_write(self, items: list[bytes]) -> None:
        monitors = [orjson.loads(item) for item in items]
        assert page(items, "abc").payload() == orjson.dumps({"monitors": monitors, "next_cursor": "abc"})
        assert page(items).json_value() == {"monitors": monitors, "next_cursor": None}

    @pytest.mark.parametrize(
        "items",
        [
            [changed(status="sleeping")],
            [WRITTEN, changed(interval_seconds="60")],
            [orjson.dumps({name: value for name, value in MONITOR.items() if name != "url"})],
            [b"{}"],
            [b"null"],
            [b""],
            [WRITTEN + b"," + WRITTEN],
            [WRITTEN[:-1]],
            [changed(id=f"019a9c3e-5b7a-7c1e-9d42-{number:012}") for number in range(101)],
        ],
    )
    def test_that_the_document_does_not_allow_is_refused_each_time(
        self, body: AnswerBody, items: list[bytes]
    ) -> None:
        for _ in range(2):
            with pytest.raises(BrokenPromise):
                body.check(page(items))

    @pytest.mark.parametrize("next_cursor", ["", 1, "x" * 65])
    def test_is_refused_for_what_stands_beside_the_list(self, body: AnswerBody, next_cursor: object) -> None:
        body.check(page([WRITTEN]))
        with pytest.raises(BrokenPromise, match="next_cursor"):
            body.check(page([WRITTEN], next_cursor))

    def test_may_not_lack_a_field(self, body: AnswerBody) -> None:
        with pytest.raises(BrokenPromise, match="next_cursor"):
            body.check(Reply(WrittenList("monitors", [WRITTEN], {})))

    def test_of_no_list_of_the_schema_is_judged_as_a_whole(self, body: AnswerBody) -> None:
        with pytest.raises(BrokenPromise):
            body.check(Reply(WrittenList("pages", [WRITTEN], {"next_cursor": None})))

    def test_whose_items_are_known_is_judged_without_them(
        self, body: AnswerBody, validation: CountingValidation
    ) -> None:
        body.check(page([WRITTEN, changed(name="b")]))
        before = validation.judged
        body.check(page([changed(name="b"), WRITTEN], "abc"))
        assert validation.judged == before + 1  # cursor and all, around an empty list

    def test_with_one_byte_changed_is_judged_anew(self, body: AnswerBody) -> None:
        body.check(page([changed(last_response_time_ms=87)]))
        with pytest.raises(BrokenPromise):
            body.check(page([changed(last_response_time_ms=-7)]))


def test_an_item_of_a_list_is_known_as_an_answer_of_its_own(validation: CountingValidation) -> None:
    AnswerBody(LIST, published_document(), validation).check(page([WRITTEN]))
    before = validation.judged
    alone = AnswerBody(ITEM, published_document(), validation)
    alone.check(Reply(WRITTEN))
    assert validation.judged == before


class TestFieldThatTheDocumentDoesNotName:
    @pytest.mark.parametrize("schema", [ITEM, published_document().follow(ITEM)])
    def test_is_allowed_and_hides_no_fault_of_another(self, validation: Validation, schema: Any) -> None:
        check = validation.response_check(schema)
        check(MONITOR | {"colour": "blue"})
        with pytest.raises(BrokenPromise, match="body url"):
            check(MONITOR | {"colour": "blue", "url": 1})

    def test_is_refused_by_a_schema_that_is_closed(self, validation: Validation) -> None:
        check = validation.response_check({"properties": {"a": {}}, "additionalProperties": {"type": "null"}})
        check({"a": 1, "b": None})
        with pytest.raises(BrokenPromise, match="body b"):
            check({"a": 1, "b": 1})
