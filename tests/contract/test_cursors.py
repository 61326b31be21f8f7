from contextlib import suppress
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.contract.cursors import decode_cursor, encode_cursor
from monitoring.contract.problems import Problem


class TestCursor:
    @given(st.uuids())
    def test_reads_as_the_id_it_was_written_for(self, monitor_id: UUID) -> None:
        assert decode_cursor(encode_cursor(monitor_id)) == monitor_id

    @given(st.text("ABCDwxyz0189_-", min_size=1, max_size=64))
    def test_is_either_one_a_list_could_give_out_or_refused(self, cursor: str) -> None:
        with suppress(Problem):
            assert encode_cursor(decode_cursor(cursor)) == cursor

    @pytest.mark.parametrize("cursor", ["!" * 22, "A" * 21 + "!", "é" * 22, "\ud800" * 22])
    def test_of_other_characters_is_refused(self, cursor: str) -> None:
        with pytest.raises(Problem, match="cursor_invalid"):
            decode_cursor(cursor)

    @pytest.mark.parametrize("cursor", ["A", "A" * 21, "A" * 23, "A" * 64])
    def test_of_another_length_is_refused(self, cursor: str) -> None:
        with pytest.raises(Problem, match="cursor_invalid"):
            decode_cursor(cursor)

    def test_has_exactly_one_spelling(self) -> None:
        cursor = encode_cursor(UUID(int=0))
        with pytest.raises(Problem, match="cursor_invalid"):
            decode_cursor(f"{cursor[:-1]}B")

    def test_is_safe_in_a_query(self) -> None:
        assert encode_cursor(uuid4()).replace("-", "").replace("_", "").isalnum()
