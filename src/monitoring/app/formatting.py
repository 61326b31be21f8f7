"""Formats moments, durations, ratios and texts for pages. `FILTERS` are the template filters."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from markupsafe import Markup

from monitoring.app.articles.labels import name_language
from monitoring.app.zones import UTC_ZONE, current_zone
from monitoring.articles.translation.inline_codes import readable
from monitoring.audit.actors import begin_sentence
from monitoring.contract.timestamps import write_timestamp
from monitoring.notifications.durations import duration_in_words

_TIME = Markup('<time datetime="%s" title="%s">%s</time>')
# A script updates the text of these three elements as time passes (`assets/live.js`).
_AGO = Markup('<time datetime="%s" title="%s" data-ago>%s</time>')
_UNTIL = Markup('<time datetime="%s" title="%s" data-until>%s</time>')
_SINCE = Markup('<span data-since="%s">%s</span>')
_NONE = Markup('<span class="quiet">none</span>')

_MS_A_SECOND = 1000
_TENTHS_A_MINUTE = 600

_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"

_WORD_ENDS = re.compile(r"(?<=\w)(?=[.@]\w)|(?<=:)(?=\w)|(?<=\w/)(?=\w)|(?<=\bmon_live_)")

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def write_moment(moment: datetime | None) -> Markup | str:
    """Render a moment in the user's time zone, as a `<time>` with the UTC time; "never" for None."""
    if moment is None:
        return "never"
    return _write_time(moment, text=_in_words(moment))


def write_to_the_second(moment: datetime) -> Markup:
    """Render a moment to the second, for lists in which several entries share a minute."""
    local = _in_zone(moment)
    return _write_time(moment, text=f"{local.day} {local:%b, %H:%M:%S}{_suffix()}")


def write_clock(moment: datetime) -> Markup:
    """Render a moment to the second, for lists on small screens. The day is shown only if it is not today."""
    local = _in_zone(moment)
    if local.date() != datetime.now(current_zone()).date():
        return write_to_the_second(moment)
    return _write_time(moment, text=f"{local:%H:%M:%S}{_suffix()}")


def write_utc_day(moment: datetime) -> str:
    """Render a moment's UTC day, which is the same for all users."""
    moment = moment.astimezone(UTC)
    return f"{moment.day} {moment:%b %Y}"


def write_ago(moment: datetime | None) -> Markup | str:
    """Render how long ago a moment was, as a `<time>` with the moment; "never" for None."""
    return _write_time(moment, text=write_age(moment), markup=_AGO) if moment else "never"


def write_age(moment: datetime | None) -> str:
    """Render how long ago a moment was, in whole minutes or more: `5 minutes ago`; "never" for None."""
    if moment is None:
        return "never"
    passed = datetime.now(UTC) - moment
    return f"{duration_in_words(passed)} ago" if passed >= timedelta(minutes=1) else "just now"


def write_days_left(moment: datetime) -> Markup:
    """Render how many whole days are left until a moment, as a `<time>`: `42 days left`, or `expired`."""
    days = (moment - datetime.now(UTC)).days
    text = "expired" if days < 0 else f"{days:,} day left" if days == 1 else f"{days:,} days left"
    return _write_time(moment, text=text)


def write_until(moment: datetime) -> Markup:
    """Render the time left until a moment, as a `<time>`: `in 12 s`; `soon` if less than a second is left."""
    seconds = (moment - datetime.now(UTC)).total_seconds()
    text = f"in {write_duration(seconds)}" if seconds >= 1 else "soon"
    return _write_time(moment, text=text, markup=_UNTIL)


def write_since(moment: datetime) -> Markup:
    """Render the time that has passed since a moment: `2 h 5 min`."""
    moment = moment.astimezone(UTC)
    seconds = (datetime.now(UTC) - moment).total_seconds()
    return _SINCE % (write_timestamp(moment), write_duration(seconds))


def write_duration(seconds: float) -> str:
    """Render a duration in its two largest units: `2 h 5 min`."""
    rest = max(0, round(seconds))
    parts = []
    for length, unit in _UNITS:
        count, rest = divmod(rest, length)
        if count:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0 s"


def write_milliseconds(milliseconds: int | None) -> Markup | str:
    """Render a response time: `87 ms`, `1.2 s`, `1 min 5 s`; "none" for None."""
    if milliseconds is None:
        return _NONE
    if milliseconds < _MS_A_SECOND:
        return f"{milliseconds} ms"
    tenths = round(milliseconds / 100)
    return f"{tenths / 10:g} s" if tenths < _TENTHS_A_MINUTE else write_duration(milliseconds / _MS_A_SECOND)


def write_percent(ratio: float | None) -> str:
    """Render a ratio as a percentage, truncated to two decimals: only a ratio of exactly 1 gives "100 %".

    None gives "not enough data".
    """
    if ratio is None:
        return "not enough data"
    if ratio == 1:
        return "100 %"
    return f"{int(ratio * 10_000) / 100:.2f} %"


def resolve_references(text: str) -> str:
    """Replace HTML character references such as `&amp;` with their characters.

    Pages use this filter for article titles, because translation also treats titles as HTML.
    """
    return html.unescape(text)


def isolate(text: str) -> str:
    """Isolate the writing direction of user-supplied text where HTML allows no `<bdi>` (UAX #9 §2.4.2)."""
    return text if text.isascii() else f"{_FIRST_STRONG_ISOLATE}{text}{_POP_ISOLATE}"


def continue_sentence(sentence: str) -> str:
    """Return a sentence with a lower-case first letter, for use after a colon.

    A first word with further capitals, such as TLS, is not changed.
    """
    first, space, rest = sentence.partition(" ")
    return f"{first.lower() if first.istitle() else first}{space}{rest}"


def capitalize(text: str) -> str:
    """Return the text with a capital first letter, and the rest unchanged: `DNS`, `First byte`."""
    return text[:1].upper() + text[1:]


def add_break_points(text: str) -> Markup:
    """Return a text as HTML with a `<wbr>` at each place where its lines may break.

    These places are before an `@` or a dot within text, after the slashes of a URL's path, after the colons
    of an IPv6 address, and after the `mon_live_` of a client_id.
    """
    return Markup(_WORD_ENDS.sub("<wbr>", str(Markup.escape(text))))  # noqa: S704 - escaped


def write_count(number: int) -> str:
    """Render a number with thousands separators: `12,345`."""
    return f"{number:,}"


FILTERS: dict[str, Callable[..., Markup | str]] = {
    "age": write_age,
    "ago": write_ago,
    "breakable": add_break_points,
    "capitalized": capitalize,
    "as_read": resolve_references,
    "as_subject": begin_sentence,
    "clock": write_clock,
    "counted": write_count,
    "days_left": write_days_left,
    "duration": write_duration,
    "isolated": isolate,
    "language": name_language,
    "milliseconds": write_milliseconds,
    "moment": write_moment,
    "percent": write_percent,
    "readable": readable,
    "since": write_since,
    "to_the_second": write_to_the_second,
    "until": write_until,
    "utc_day": write_utc_day,
}


def _write_time(moment: datetime, *, text: str, markup: Markup = _TIME) -> Markup:
    """Render a moment as a `<time>` that shows `text`. Its tooltip is the moment in UTC.

    If the text is a relative time such as "5 minutes ago", the tooltip begins with the user's local time.
    """
    moment = moment.astimezone(UTC)
    title = f"{moment.day} {moment:%b %Y, %H:%M:%S} UTC"
    if markup is not _TIME and current_zone() != UTC_ZONE:
        title = f"{_in_words(moment)} ({title})"
    return markup % (write_timestamp(moment), title, text)


def _in_zone(moment: datetime) -> datetime:
    """Convert a moment to the user's time zone; to UTC if `datetime` cannot represent it in that zone.

    Publishers send times such as 9999-12-31T23:59:59Z, which are too late for zones east of UTC.
    """
    try:
        return moment.astimezone(current_zone())
    except OverflowError:
        return moment.astimezone(UTC)


def _in_words(moment: datetime) -> str:
    local = _in_zone(moment)
    return f"{local.day} {local:%b %Y, %H:%M}{_suffix()}"


def _suffix() -> str:
    """Return " UTC" if times are shown in UTC; empty for any other zone."""
    return " UTC" if current_zone() == UTC_ZONE else ""
