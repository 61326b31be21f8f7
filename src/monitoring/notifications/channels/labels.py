"""Labels for the subjects of messages, which help people tell alerts apart. Has no side effects.

Names are untrusted text. Line breaks are removed, so that a name cannot start a new line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from monitoring.auth.names import name_after_host
from monitoring.backends.encryption import MASK
from monitoring.contract.document import Json

# A longer URL is shortened in the middle, because the URLs of pages on the same host often differ at the end.
MOST_URL_CHARACTERS = 200
MOST_TITLE_CHARACTERS = 100
MOST_TAGS = 5


def label_monitor(monitor: Mapping[str, Json]) -> str:
    """Return a monitor's name or, if the name is only the host of its URL, the URL without the scheme."""
    if monitor["name"] != name_after_host({"url": monitor["url"]}):
        return join_lines(monitor["name"])
    _, _, address = _mask_query(monitor["url"]).partition("://")
    return _shorten(address.removesuffix("/"), MOST_TITLE_CHARACTERS)


def display_url(monitor: Mapping[str, Json]) -> str:
    """Return a monitor's shortened URL. Values in its query string are masked, because they may be secret."""
    return _shorten(_mask_query(monitor["url"]), MOST_URL_CHARACTERS)


def list_facts(subject: Mapping[str, Json]) -> Iterator[str]:
    """Yield lines with the monitor's URL, the team and the monitor's tags.

    Lines about unknown facts are left out: messages queued by earlier releases contain no team and no tags.
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
    """Join lines into a message's text, replacing line breaks within a line."""
    return "\n".join(join_lines(line) for line in lines)


def join_lines(text: str) -> str:
    """Return a text with its line breaks replaced by spaces."""
    return " ".join(text.splitlines())


def _mask_query(url: str) -> str:
    url, _, _ = url.partition("#")  # fragments are never sent to servers
    address, mark, query = url.partition("?")
    return address + mark + "&".join(_mask_value(each) for each in query.split("&"))


def _mask_value(parameter: str) -> str:
    name, sign, _ = parameter.partition("=")
    if sign:
        return f"{name}={MASK}"
    return MASK if name else ""  # a name without a value, such as `?token`, may be a secret itself


def _shorten(address: str, most_characters: int) -> str:
    if len(address) <= most_characters:
        return address
    half = (most_characters - 1) // 2
    return f"{address[:half]}…{address[-half:]}"
