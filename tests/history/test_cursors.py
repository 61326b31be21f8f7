from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from monitoring.contract.cursors import PagedList, encode_cursor
from monitoring.history.cursors import decode_moment, encode_moment

moments = st.datetimes(datetime(1970, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001


class TestCursorOfAMoment:
    @given(moments)
    def test_names_it_to_the_microsecond(self, moment: datetime) -> None:
        assert decode_moment(encode_moment(moment)) == moment

    def test_beyond_the_end_of_time_leads_to_it(self) -> None:
        last = datetime.max.replace(tzinfo=UTC)
        assert decode_moment(encode_moment(last)) == last
        microseconds = (last - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
        for number in (microseconds + 1, 2**64, 2**128 - 1):
            assert decode_moment(encode_cursor(PagedList.CHECKS, UUID(int=number))) == last
