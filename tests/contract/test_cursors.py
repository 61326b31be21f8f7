from __future__ import annotations

import re
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.contract.cursors import PagedList, decode_cursor, encode_cursor
from monitoring.contract.document import published_document

PATTERNS = {
    parameter["schema"]["pattern"]
    for operation in published_document().operations.values()
    for parameter in operation.parameters
    if parameter["name"] == "cursor"
}
LISTS = [each for each in PagedList if each != PagedList.AUDIT_ENTRIES]  # which the app alone has


class TestCursor:
    @given(st.sampled_from(LISTS), st.uuids())
    def test_reads_as_the_id_it_was_written_for(self, of: PagedList, last_id: UUID) -> None:
        assert decode_cursor(encode_cursor(of, last_id)) == last_id

    @given(st.sampled_from(LISTS), st.uuids())
    def test_is_one_of_its_list_alone(self, of: PagedList, last_id: UUID) -> None:
        [pattern] = [each for each in PATTERNS if re.search(each, encode_cursor(of, last_id))]
        assert pattern.startswith(f"^{of}?")

    @given(st.data(), st.sampled_from(sorted(PATTERNS)))
    def test_is_one_that_a_list_could_give_out_whenever_the_document_allows_it(
        self, data: st.DataObject, pattern: str
    ) -> None:
        cursor = data.draw(st.from_regex(pattern.replace("$", r"\Z")))
        last_id = decode_cursor(cursor)
        assert last_id
        assert encode_cursor(PagedList(pattern[1]), last_id)[1:] == cursor[-22:]

    def test_is_none_on_the_first_page(self) -> None:
        assert decode_cursor(None) is None

    @pytest.mark.parametrize("cursor", ["", "A", "A" * 21, "A" * 24, "!" * 22, "é" * 22, "\ud800" * 22])
    def test_that_the_document_does_not_allow_is_refused(self, cursor: str) -> None:
        with pytest.raises(ValueError):  # noqa: PT011 - of several kinds
            decode_cursor(cursor)

    def test_is_safe_in_a_query(self) -> None:
        assert encode_cursor(PagedList.MONITORS, uuid4()).replace("-", "").replace("_", "").isalnum()
