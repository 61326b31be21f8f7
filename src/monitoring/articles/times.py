"""Parses publishers' time formats. Has no side effects."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_EPOCH_SECONDS = re.compile(r"\d{10}(?:\.\d{1,9})?")
_EPOCH_MILLISECONDS = re.compile(r"\d{13}")
_ZONE_BEHIND_BLANK = re.compile(r" ?(?:UTC|GMT|([+-]\d\d:?\d\d)(?: [A-Z]{3,4})?)\Z")  # as in Ruby and Go
_NAME_OF_ZONE = re.compile(r" \([^()]*\)\Z")  # JavaScript appends the name of the time zone

# Only formats with a month name or with the year first, because other formats are ambiguous.
_FORMS = (
    *("%B %d, %Y", "%b %d, %Y", "%B %d, %Y %I:%M %p", "%b %d, %Y %I:%M %p"),  # Medium, Notion
    *("%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y"),
    *("%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S", "%Y/%m/%d %H:%M:%S %z"),
    "%a %b %d %Y %H:%M:%S GMT%z",  # JavaScript's Date.toString()
)


def parse_time(told: object) -> datetime | None:
    """Parse a time: ISO 8601, RFC 5322 or a common unambiguous date format. The default time zone is UTC.

    A number, or a string with a number, is read as seconds or milliseconds since the epoch. Returns None for
    anything else.
    """
    text = str(told).strip() if isinstance(told, str | int | float) and not isinstance(told, bool) else ""
    for read in (_read_number, _read_iso_8601, _read_form, parsedate_to_datetime):
        with suppress(ValueError, OverflowError, TypeError, IndexError):
            moment = read(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    return None


def _read_number(text: str) -> datetime:
    is_in_milliseconds = _EPOCH_MILLISECONDS.fullmatch(text)
    if not (is_in_milliseconds or _EPOCH_SECONDS.fullmatch(text)):
        raise ValueError(text)
    return datetime.fromtimestamp(int(text) / 1000 if is_in_milliseconds else float(text), UTC)


def _read_iso_8601(text: str) -> datetime:
    return datetime.fromisoformat(_ZONE_BEHIND_BLANK.sub(r"\1", text))


def _read_form(text: str) -> datetime:
    for form in _FORMS:
        with suppress(ValueError):
            return datetime.strptime(_NAME_OF_ZONE.sub("", text), form)  # noqa: DTZ007 - UTC is the default
    raise ValueError(text)
