"""A user's view of the monitor list: its filter, order, grouping, density and page. Has no side effects."""

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

# The two orders of each column. The first click on the heading selects the first order, the next click the
# second.
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
    """A list density: whether bars are shown, and how many monitors a page has."""

    name: str
    monitors_a_page: int
    has_pictures: bool


ROOMY = Density("roomy", 50, has_pictures=True)
COMPACT = Density("compact", 100, has_pictures=False)
DENSITIES = {each.name: each for each in (ROOMY, COMPACT)}


@dataclass(frozen=True, slots=True)
class ListView:
    """The parsed query parameters of the list. `sought` has the filter's fields as they were typed."""

    sought: Mapping[str, str]
    order: MonitorOrder
    is_grouped: bool
    density: Density
    number: int

    @property
    def query(self) -> dict[str, str]:
        """The query parameters of the list's first page. A parameter with its default value is empty."""
        kept = {"sort": "" if self.order is MonitorOrder.WORST else self.order.value}
        return {**self.sought, **kept, "group": "tag" if self.is_grouped else ""}

    @property
    def place(self) -> dict[str, str | int]:
        """The query parameters of the current page. A parameter with its default value is empty."""
        return {**self.query, "page": self.number if self.number > 1 else ""}

    def link(self, **changes: str | int) -> str:
        """Return a link to the list with `changes` in its query.

        The link is relative, and therefore short, because a page has hundreds of links.
        """
        return "?" + write_query({**self.query, **changes})

    def direction_of(self, column: str) -> str:
        """Return a column heading's `aria-sort`; empty if the list is not sorted by the column."""
        if self.order not in COLUMNS[column]:
            return ""
        return "descending" if self.order in _DESCENDING else "ascending"

    def press(self, column: str) -> MonitorOrder:
        """Return the order that a click on a column heading selects."""
        first, second = COLUMNS[column]
        return second if self.order is first else first

    @property
    def tags(self) -> list[str]:
        """The filter's tags. A monitor matches if it has all of them."""
        return split_tags(self.sought["tag"])

    def with_tag(self, tag: str) -> str:
        """Return the filter's tags plus `tag`, joined with commas."""
        return ",".join(dict.fromkeys((*self.tags, tag)))

    def without_tag(self, tag: str) -> str:
        """Return the filter's tags without `tag`, joined with commas."""
        return ",".join(each for each in self.tags if each != tag)

    @property
    def is_sought(self) -> bool:
        """Whether any filter field is set."""
        return any(self.sought.values())


def read_view(query: QueryParams, density: str) -> ListView:
    """Return the view that a query and a density's name describe. Unknown values are replaced by defaults."""
    return ListView(
        sought=echo_filter(query),
        order=MonitorOrder(query["sort"]) if query.get("sort") in ORDERS else MonitorOrder.WORST,
        is_grouped=query.get("group") == "tag",
        density=DENSITIES.get(density, DENSITIES["roomy"]),
        number=_page_of(query),
    )


def _page_of(query: QueryParams) -> int:
    """Return the query's page number, or 1 if the number is missing or invalid."""
    text = query.get("page", "")
    return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < MAX_PAGE_DIGITS else 1
