"""When maintenance recurs, in words."""

from __future__ import annotations

from datetime import datetime

import pytest

from monitoring.app.maintenance.recurrence_words import describe_rule

TUESDAY = datetime(2026, 11, 3, 3, 5)  # noqa: DTZ001 - a local time


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("FREQ=DAILY", "every day at 03:05"),
        ("FREQ=DAILY;INTERVAL=3", "every 3 days at 03:05"),
        ("FREQ=DAILY;BYDAY=SA,SU", "every Saturday and Sunday at 03:05"),
        ("FREQ=WEEKLY", "every Tuesday at 03:05"),
        ("FREQ=WEEKLY;BYDAY=SU;BYHOUR=3;BYMINUTE=0", "every Sunday at 03:00"),
        ("FREQ=WEEKLY;BYDAY=FR,MO,TU,TH,WE", "from Monday to Friday at 03:05"),
        ("FREQ=WEEKLY;WKST=SU;BYDAY=TH,MO", "every Monday and Thursday at 03:05"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TU,WE", "every 2 weeks on Monday, Tuesday and Wednesday at 03:05"),
        ("FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TU,WE,TH,FR", "every 2 weeks from Monday to Friday at 03:05"),
        ("FREQ=WEEKLY;BYHOUR=15,3", "every Tuesday at 03:05 and 15:05"),
        ("FREQ=MONTHLY", "every month on day 3 at 03:05"),
        ("FREQ=MONTHLY;BYMONTHDAY=1,15", "every month on day 1 and 15 at 03:05"),
        ("FREQ=MONTHLY;BYMONTHDAY=-1", "every month on the last day at 03:05"),
        ("FREQ=MONTHLY;INTERVAL=3;BYMONTHDAY=15,-1", "every 3 months on day 15 and the last day at 03:05"),
        ("FREQ=MONTHLY;BYDAY=1SU", "every month on the first Sunday at 03:05"),
        ("FREQ=MONTHLY;BYDAY=+2TU,-1TU", "every month on the second Tuesday and the last Tuesday at 03:05"),
        ("FREQ=YEARLY", "every year on 3 November at 03:05"),
        ("FREQ=DAILY;COUNT=10", "every day at 03:05, 10 times"),
        ("FREQ=DAILY;COUNT=1", "every day at 03:05, once"),
        ("FREQ=DAILY;UNTIL=20270101T000000Z", "every day at 03:05, until 1 Jan 2027"),
        ("FREQ=DAILY;INTERVAL=2;BYDAY=MO", None),
        ("FREQ=WEEKLY;BYDAY=1MO", None),
        ("FREQ=MONTHLY;BYDAY=MO", None),
        ("FREQ=MONTHLY;BYDAY=-2MO", None),
        ("FREQ=MONTHLY;BYMONTHDAY=-3", None),
        ("FREQ=YEARLY;BYMONTH=3,9;BYMONTHDAY=1", None),
        ("FREQ=YEARLY;BYMONTHDAY=1", None),
        ("FREQ=WEEKLY;BYMONTH=12", None),
    ],
)
def test_a_rule_is_a_plain_sentence_or_none_at_all(rule: str, words: str | None) -> None:
    assert describe_rule(rule, TUESDAY) == words
