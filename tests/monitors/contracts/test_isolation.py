"""What a hostile document keeps busy is another process, and not for long."""

from __future__ import annotations

import asyncio
from threading import Event
from typing import Any

import orjson
import pytest

from monitoring.monitors.contracts.documents import UnusableDocumentError
from monitoring.monitors.contracts.isolation import (
    TooLongError,
    find_rules_apart,
    judge_apart,
    wait_apart,
)
from monitors.contracts.promises import DOCUMENT, promise

HEADERS = {"content-type": "application/json", "x-page": "1"}


class TestApart:
    def test_documents_are_read_as_json_and_as_yaml(self) -> None:
        written = orjson.dumps(DOCUMENT).decode()  # which is YAML as well
        rules = find_rules_apart(DOCUMENT, "get_order")
        assert (
            rules
            == find_rules_apart(written, "get_order")
            == find_rules_apart(f"# YAML\n{written}", "get_order")
        )
        assert judge_apart(orjson.dumps(rules).decode(), 200, HEADERS, "[]")

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "{",
            "a: [",
            "\x00",
            "- " * 100_000,
            "!!python/object/apply:os.abort []",
            "[" * 5000 + "]" * 5000,
        ],
    )
    def test_text_that_is_no_document_is_refused(self, text: str) -> None:
        with pytest.raises(UnusableDocumentError):
            find_rules_apart(text, "get_order")

    def test_a_bomb_of_aliases_does_not_explode(self) -> None:
        lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 60))]
        with pytest.raises(UnusableDocumentError) as raised:
            find_rules_apart("\n".join(lines), "get_order")
        assert raised.value.reason == "too_large"

    def test_a_schema_that_takes_years_is_given_up_and_the_next_one_is_judged(self) -> None:
        doubling: dict[str, Any] = {
            f"S{number}": {"anyOf": [{"$ref": f"#/components/schemas/S{number + 1}"}] * 2}
            for number in range(60)
        }
        document = promise({"$ref": "#/components/schemas/S0"}, {**doubling, "S60": {"type": "string"}})
        slow = orjson.dumps(find_rules_apart(document, "get_order")).decode()
        with pytest.raises(TooLongError):
            judge_apart(slow, 200, HEADERS, "1")
        quick = orjson.dumps(find_rules_apart(DOCUMENT, "get_order")).decode()
        assert judge_apart(quick, 200, HEADERS, "[]")

    @pytest.mark.anyio
    async def test_however_many_wait_for_it_the_threads_of_others_are_free(self) -> None:
        is_over = Event()
        waiting = [asyncio.create_task(wait_apart(is_over.wait)) for _ in range(64)]
        async with asyncio.timeout(60):
            await asyncio.sleep(0)
            await asyncio.to_thread(is_over.set)
            await asyncio.gather(*waiting)
