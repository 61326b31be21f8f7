"""How messages name what they are about, so that no two alarms look alike. Pure.

Names are strangers' text. Each stands on one line, so that it begins no line of its own.
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


def call_monitor(monitor: Mapping[str, Json]) -> str:
    """Name a monitor. Hosts have many, so one that is called after its host is named by its address."""
    if monitor["name"] != name_after_host({"url": monitor["url"]}):
        return join_lines(monitor["name"])
    _, _, address = _mask_query(monitor["url"]).partition("://")
    return _shorten(address.removesuffix("/"), MOST_TITLE_CHARACTERS)


def show_url(monitor: Mapping[str, Json]) -> str:
    """Show what a monitor watches, without the values of the query, which may be secret."""
    return _shorten(_mask_query(monitor["url"]), MOST_URL_CHARACTERS)


def list_facts(subject: Mapping[str, Json]) -> Iterator[str]:
    """List what a message is about: the monitor's URL, the team and the monitor's tags.

    Messages that an earlier release queued have no team and no tags.
    """
    monitor = subject.get("monitor", {})
    if monitor:
        yield f"URL: {show_url(monitor)}"
    if team := subject.get("team"):
        yield f"Team: {team}"
    if tags := monitor.get("tags"):
        others = f" and {len(tags) - MOST_TAGS} more" if len(tags) > MOST_TAGS else ""
        yield f"Tags: {', '.join(tags[:MOST_TAGS])}{others}"


def write_text(lines: Iterable[str]) -> str:
    """Write the text of a message, one line for each thing that it says."""
    return "\n".join(join_lines(line) for line in lines)


def join_lines(text: str) -> str:
    """Write a text without the ends of lines in it."""
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
