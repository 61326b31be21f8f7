"""The monitor list's filter, validated by the API document's rules for the operation `list_monitors`.

Has no side effects.
"""

from __future__ import annotations

from functools import cache

from starlette.datastructures import QueryParams

from monitoring.app.form_fields import document_rules, sentences_of
from monitoring.app.formatting import capitalize
from monitoring.contract.catalogue import Catalogue
from monitoring.contract.document import published_document
from monitoring.contract.problems import Problem
from monitoring.contract.validation import Check
from monitoring.monitors.queries import MonitorFilter

_NAMES = ("type", "status", "tag", "search")

# The most tags in a filter, which is one more than a monitor can have. A filter with this many tags matches
# nothing, so further tags make no difference.
MOST_TAGS = 11


def read_filter(query: QueryParams) -> MonitorFilter:
    """Return the filter in a query. Empty fields are ignored. Raises Problem for invalid fields."""
    given = {name: text for name, text in echo_filter(query).items() if text}
    tags = split_tags(given.pop("tag", ""))
    for tag in tags or [""]:
        judge()(given | ({"tag": tag} if tag else {}))
    return MonitorFilter(
        type=given.get("type"),
        status=given.get("status"),
        tags=tuple(tags),
        search=given.get("search"),
        leaves_out_deleted=True,
    )


def split_tags(text: str) -> list[str]:
    """Split a filter's tags at commas.

    Tags after the eleventh are dropped. They make no difference, because no monitor has eleven tags.
    """
    return list(dict.fromkeys(tag for each in text.split(",") if (tag := each.strip())))[:MOST_TAGS]


def echo_filter(query: QueryParams) -> dict[str, str]:
    """Return the filter's fields as they were typed. Repeated tags (`tag=a&tag=b`) are joined with commas."""
    typed = {"tag": ",".join(query.getlist("tag"))}
    return {name: typed.get(name, query.get(name, "")).strip() for name in _NAMES}


def place_problem(problem: Problem, catalogue: Catalogue) -> dict[str, str]:
    """Return the messages for a problem with a filter, by field."""

    def place(_problem: Problem, sentence: str) -> tuple[str, str]:
        field, _, words = sentence.partition(": ")
        return field, capitalize(words)

    return sentences_of(problem, catalogue, place)


@cache
def judge() -> Check:
    """Return the filter's validator. It is compiled once, at startup, because that takes half a second."""
    parameters = published_document().operations["list_monitors"].parameters
    schemas = {each["name"]: each["schema"] for each in parameters if each["name"] in _NAMES}
    return document_rules().form_check({"type": "object", "properties": schemas}, "query")
