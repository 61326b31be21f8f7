"""The audit log's filter form: its texts, and the filter that they define."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from monitoring.app.audit.labels import KINDS
from monitoring.app.sentences import REFUSALS
from monitoring.audit.filters import EntryFilter
from monitoring.audit.models import MAX_CHARACTERS

ACTORS = {"": "people and programs", "people": "people", "programs": "programs with an API key"}
_IS_BY_KEY = {"people": False, "programs": True}
A_DAY = timedelta(days=1)
_FIELDS = ("who", "by", "kind", "about", "from", "to")


@dataclass(frozen=True, slots=True)
class FilterForm:
    """The submitted texts by field, the filter that they define, and the error messages by field."""

    texts: Mapping[str, str]
    wanted: EntryFilter
    errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_anything(self) -> bool:
        """Whether any field of the filter is filled in."""
        return any(self.texts.values())


def read_filter(query: Mapping[str, str], zone: ZoneInfo) -> FilterForm:
    """Parse the filter form. Days are those of the time zone `zone`. The first and last day are included.

    A `kind` or `by` that the form does not offer is ignored. If a day is invalid, the filter matches
    everything.
    """
    texts = {name: query.get(name, "").strip()[:MAX_CHARACTERS] for name in _FIELDS}
    texts["kind"] = texts["kind"] if texts["kind"] in KINDS else ""
    texts["by"] = texts["by"] if texts["by"] in ACTORS else ""
    errors = {name: REFUSALS["day_unreadable"] for name in ("from", "to") if not _is_day(texts[name])}
    if errors:
        return FilterForm(texts, EntryFilter(), errors)
    wanted = EntryFilter(
        who=texts["who"],
        kind=texts["kind"],
        about=texts["about"],
        is_by_key=_IS_BY_KEY.get(texts["by"]),
        since=_begin_of(date.fromisoformat(texts["from"]), zone) if texts["from"] else None,
        until=_begin_of(date.fromisoformat(texts["to"]) + A_DAY, zone) if texts["to"] else None,
    )
    return FilterForm(texts, wanted)


def _is_day(text: str) -> bool:
    try:
        return not text or date(1970, 1, 1) <= date.fromisoformat(text) < date.max - A_DAY
    except ValueError:
        return False


def _begin_of(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC)
