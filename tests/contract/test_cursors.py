import re
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.contract.cursors import decode_cursor, encode_cursor
from monitoring.contract.document import published_document

SCHEMA = published_document().root["components"]["parameters"]["Cursor"]["schema"]


class TestCursor:
    @given(st.uuids())
    def test_reads_as_the_id_it_was_written_for(self, monitor_id: UUID) -> None:
        cursor = encode_cursor(monitor_id)
        assert re.search(SCHEMA["pattern"], cursor)
        assert decode_cursor(cursor) == monitor_id

    @given(st.from_regex(SCHEMA["pattern"].replace("$", r"\Z")))
    def test_is_one_that_a_list_could_give_out_whenever_the_document_allows_it(self, cursor: str) -> None:
        assert encode_cursor(decode_cursor(cursor)) == cursor

    @pytest.mark.parametrize("cursor", ["", "A", "A" * 21, "A" * 23, "!" * 22, "é" * 22, "\ud800" * 22])
    def test_that_the_document_does_not_allow_is_refused(self, cursor: str) -> None:
        with pytest.raises(ValueError):  # noqa: PT011 - of several kinds
            decode_cursor(cursor)

    def test_is_safe_in_a_query(self) -> None:
        assert encode_cursor(uuid4()).replace("-", "").replace("_", "").isalnum()
