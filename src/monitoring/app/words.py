"""How moments, durations and ratios read on a page."""

from __future__ import annotations

import html
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from markupsafe import Markup

from monitoring.articles.translation.codes import readable
from monitoring.contract.timestamps import write_timestamp
from monitoring.notifications.durations import duration_in_words

if TYPE_CHECKING:
    from collections.abc import Callable

_TIME = Markup('<time datetime="{machine}" title="{title}">{text}</time>')
# The script of live pages keeps the text of these two true (`assets/live.js`).
_AGO = Markup('<time datetime="{machine}" title="{title}" data-ago>{text}</time>')
_SINCE = Markup('<span data-since="{machine}">{text}</span>')

_FIRST_STRONG_ISOLATE, _POP_ISOLATE = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def write_moment(moment: datetime | None) -> Markup | str:
    """Write a moment in UTC, as a `<time>`; "never" for None."""
    if moment is None:
        return "never"
    return _write_time(moment, title=write_timestamp(moment.astimezone(UTC)), text=_in_words(moment))


def write_to_the_second(moment: datetime) -> Markup:
    """Write a moment in UTC to the second, for lists in which several share a minute."""
    moment = moment.astimezone(UTC)
    text = f"{moment.day} {moment:%b, %H:%M:%S} UTC"
    return _write_time(moment, title=_in_words(moment), text=text)


def write_ago(moment: datetime | None) -> Markup | str:
    """Write how long ago a moment was, as a `<time>` that tells the moment too; "never" for None."""
    if moment is None:
        return "never"
    passed = datetime.now(UTC) - moment
    text = f"{duration_in_words(passed)} ago" if passed >= timedelta(minutes=1) else "just now"
    return _write_time(moment, title=_in_words(moment), text=text, markup=_AGO)


def write_since(moment: datetime) -> Markup:
    """Write how long something lasts that began at a moment and goes on."""
    moment = moment.astimezone(UTC)
    seconds = (datetime.now(UTC) - moment).total_seconds()
    return _SINCE.format(machine=write_timestamp(moment), text=write_duration(seconds))


def write_duration(seconds: float) -> str:
    """Write a duration in its two largest units: `2 h 5 min`."""
    rest = max(0, round(seconds))
    parts = []
    for length, unit in _UNITS:
        count, rest = divmod(rest, length)
        if count:
            parts.append(f"{count} {unit}")
        elif parts:
            break
    return " ".join(parts[:2]) or "0 s"


def write_percent(ratio: float | None) -> str:
    """Write a ratio, cut and not rounded: only what never failed reads 100 %. None is "no data"."""
    if ratio is None:
        return "no data"
    if ratio == 1:
        return "100 %"
    return f"{int(ratio * 10_000) / 100:.2f} %"


def resolve_references(text: str) -> str:
    """Write `Fit &amp; fun` as the site's readers see it. Translation reads such a title as HTML, too."""
    return html.unescape(text)


def isolate(text: str) -> str:
    """Keep a stranger's text from turning the words around it, where no `<bdi>` can stand (UAX #9 §2.4.2)."""
    return text if text.isascii() else f"{_FIRST_STRONG_ISOLATE}{text}{_POP_ISOLATE}"


FILTERS: dict[str, Callable[..., Markup | str]] = {
    "ago": write_ago,
    "as_read": resolve_references,
    "duration": write_duration,
    "isolated": isolate,
    "moment": write_moment,
    "percent": write_percent,
    "readable": readable,
    "since": write_since,
    "to_the_second": write_to_the_second,
}


def _write_time(moment: datetime, *, title: str, text: str, markup: Markup = _TIME) -> Markup:
    return markup.format(machine=write_timestamp(moment.astimezone(UTC)), title=title, text=text)


def _in_words(moment: datetime) -> str:
    moment = moment.astimezone(UTC)
    return f"{moment.day} {moment:%b %Y, %H:%M} UTC"
