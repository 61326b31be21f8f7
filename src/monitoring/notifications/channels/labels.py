"""How messages name their subject, so that two alarms can be told apart. Pure.

Names are untrusted text. Line breaks are removed, so that a name cannot start a line of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from monitoring.auth.names import name_after_host
from monitoring.backends.encryption import MASK
from monitoring.contract.document import Json

# Of a longer URL the beginning and the end are shown, because pages of one host often differ at the end.
MOST_URL_CHARACTERS = 200
MOST_TITLE_CHARACTERS = 100
MOST_TAGS = 5


def label_monitor(monitor: Mapping[str, Json]) -> str:
    """Return a monitor's name, or its URL without the scheme if it is named after its host."""
    if monitor["name"] != name_after_host({"url": monitor["url"]}):
        return join_lines(monitor["name"])
    _, _, address = _mask_query(monitor["url"]).partition("://")
    return _shorten(address.removesuffix("/"), MOST_TITLE_CHARACTERS)


def display_url(monitor: Mapping[str, Json]) -> str:
    """Return a monitor's URL without the values of its query, which may be secret."""
    return _shorten(_mask_query(monitor["url"]), MOST_URL_CHARACTERS)


def list_facts(subject: Mapping[str, Json]) -> Iterator[str]:
    """Yield a line each for the monitor's URL, the team and the monitor's tags.

    Messages that an earlier release queued have no team and no tags.
    """
    monitor = subject.get("monitor", {})
    if monitor:
        yield f"URL: {display_url(monitor)}"
    if team := subject.get("team"):
        yield f"Team: {team}"
    if tags := monitor.get("tags"):
        others = f" and {len(tags) - MOST_TAGS} more" if len(tags) > MOST_TAGS else ""
        yield f"Tags: {', '.join(tags[:MOST_TAGS])}{others}"


def write_text(lines: Iterable[str]) -> str:
    """Join the lines of a message's text."""
    return "\n".join(join_lines(line) for line in lines)


def join_lines(text: str) -> str:
    """Return a text with its line breaks replaced by spaces."""
    return " ".join(text.splitlines())


def _mask_query(url: str) -> str:
    url, _, _ = url.partition("#")  # which no server is sent
    address, mark, query = url.partition("?")
    return address + mark + "&".join(_mask_value(each) for each in query.split("&"))


def _mask_value(parameter: str) -> str:
    name, sign, _ = parameter.partition("=")
    if sign:
        return f"{name}={MASK}"
    return MASK if name else ""  # `?token` alone may be one


def _shorten(address: str, most_characters: int) -> str:
    if len(address) <= most_characters:
        return address
    half = (most_characters - 1) // 2
    return f"{address[:half]}…{address[-half:]}"
