"""How a person looks at the list of monitors: what they seek, in which order, in groups, how dense. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from starlette.datastructures import QueryParams

from monitoring.app.monitors.list_filter import echo_filter, split_tags
from monitoring.app.rendering import write_query
from monitoring.monitors.queries import MonitorOrder

MAX_PAGE_DIGITS = 6

ORDERS = {
    MonitorOrder.WORST: "down first",
    MonitorOrder.BEST: "down last",
    MonitorOrder.NAME: "name, A to Z",
    MonitorOrder.REVERSED_NAME: "name, Z to A",
    MonitorOrder.UPTIME: "lowest uptime (24 hours)",
    MonitorOrder.HIGHEST_UPTIME: "highest uptime (24 hours)",
    MonitorOrder.SLOWEST: "slowest first",
    MonitorOrder.QUICKEST: "quickest first",
    MonitorOrder.NEWEST: "newest first",
}

# The orders that the head of a column leads to: at the first press, and at the second.
COLUMNS = {
    "State": (MonitorOrder.WORST, MonitorOrder.BEST),
    "Monitor": (MonitorOrder.NAME, MonitorOrder.REVERSED_NAME),
    "Uptime, 24 h": (MonitorOrder.UPTIME, MonitorOrder.HIGHEST_UPTIME),
    "Response time": (MonitorOrder.SLOWEST, MonitorOrder.QUICKEST),
}

_DESCENDING = (
    MonitorOrder.BEST,
    MonitorOrder.REVERSED_NAME,
    MonitorOrder.HIGHEST_UPTIME,
    MonitorOrder.SLOWEST,
)


class Density(NamedTuple):
    """How much of a monitor the list shows, and how many monitors a page has."""

    name: str
    monitors_a_page: int
    has_pictures: bool


ROOMY = Density("roomy", 50, has_pictures=True)
COMPACT = Density("compact", 100, has_pictures=False)
DENSITIES = {each.name: each for each in (ROOMY, COMPACT)}


@dataclass(frozen=True, slots=True)
class ListView:
    """What the query of the list asks for. `sought` are the fields of the filter as they were typed."""

    sought: Mapping[str, str]
    order: MonitorOrder
    is_grouped: bool
    density: Density
    number: int

    @property
    def query(self) -> dict[str, str]:
        """The query of the same list, from its first page on. Defaults are left out."""
        kept = {"sort": "" if self.order is MonitorOrder.WORST else self.order.value}
        return {**self.sought, **kept, "group": "tag" if self.is_grouped else ""}

    @property
    def place(self) -> dict[str, str | int]:
        """The query that leads back to what is shown, its page too."""
        return {**self.query, "page": self.number if self.number > 1 else ""}

    def link(self, **changes: str | int) -> str:
        """Write a reference from the list to itself with another query. It is short: a page has hundreds."""
        return "?" + write_query({**self.query, **changes})

    def direction_of(self, column: str) -> str:
        """Return the `aria-sort` of a column; nothing if the list is not ordered by it."""
        if self.order not in COLUMNS[column]:
            return ""
        return "descending" if self.order in _DESCENDING else "ascending"

    def press(self, column: str) -> MonitorOrder:
        """Return the order that the head of a column leads to."""
        first, second = COLUMNS[column]
        return second if self.order is first else first

    @property
    def tags(self) -> list[str]:
        """The tags of the filter, all of which a monitor has."""
        return split_tags(self.sought["tag"])

    def with_tag(self, tag: str) -> str:
        """Return the tags of the filter, and this one."""
        return ",".join(dict.fromkeys((*self.tags, tag)))

    def without_tag(self, tag: str) -> str:
        """Return the tags of the filter except this one."""
        return ",".join(each for each in self.tags if each != tag)

    @property
    def is_sought(self) -> bool:
        """Whether a filter is set."""
        return any(self.sought.values())


def read_view(query: QueryParams, density: str) -> ListView:
    """Read a query. A value that is not offered means the default."""
    return ListView(
        sought=echo_filter(query),
        order=MonitorOrder(query["sort"]) if query.get("sort") in ORDERS else MonitorOrder.WORST,
        is_grouped=query.get("group") == "tag",
        density=DENSITIES.get(density, DENSITIES["roomy"]),
        number=_page_of(query),
    )


def _page_of(query: QueryParams) -> int:
    """Return the number of the page that the query names; the first page if it names no number."""
    text = query.get("page", "")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < MAX_PAGE_DIGITS else 1
