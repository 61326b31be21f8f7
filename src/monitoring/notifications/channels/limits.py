"""Each provider's length limits, and functions that cut messages to fit. Has no side effects.

Messages are cut before they are sent. Otherwise, a provider would refuse a message that is too long, and
nobody would be alerted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from types import MappingProxyType

import orjson

# The maximum number of lines in a message: enough for twenty monitors, a title and a team.
MOST_LINES = 22


class Unit(Enum):
    """The unit of a provider's limit.

    If the provider's page says only "characters", this is the unit that gives the higher count.
    """

    CHARACTERS = "code points of Unicode"
    UTF_16 = "code units of UTF-16, of which an emoji has two or more"
    BYTES = "bytes of UTF-8"
    BYTES_OF_JSON = "bytes of UTF-8, escaped as in JSON, for shares of a whole body"


@dataclass(frozen=True, slots=True)
class Limit:
    """A field's maximum length, and the page that documents it."""

    most: int
    unit: Unit
    source: str

    def takes(self, text: str) -> bool:
        """Return whether a text is within the limit."""
        return self._count(text) <= self.most

    def beside(self, text: str) -> Limit:
        """Return the limit that remains in a field that also contains `text`."""
        return replace(self, most=self.most - self._count(text))

    def _count(self, text: str) -> int:
        match self.unit:
            case Unit.CHARACTERS:
                return len(text)
            case Unit.UTF_16:
                return len(text.encode("utf-16-le")) // 2
            case Unit.BYTES:
                return len(text.encode())
            case Unit.BYTES_OF_JSON:
                return len(orjson.dumps(text)) - len('""')


_DISCORD = "https://discord.com/developers/docs/resources/message#embed-object-embed-limits"
_GOOGLE_CHAT = "https://developers.google.com/workspace/chat/create-messages"
_MATTERMOST = "https://gitlab.com/gitlab-org/gitlab-foss/-/issues/37555"
_NTFY = "https://docs.ntfy.sh/publish/#limitations"
_OPSGENIE = "https://docs.opsgenie.com/docs/alert-api"
_PAGERDUTY = "https://developer.pagerduty.com/docs/send-alert-event"
_PUSHOVER = "https://pushover.net/api"
_SLACK = "https://docs.slack.dev/reference/methods/chat.postMessage#truncating"
_TEAMS = "https://learn.microsoft.com/en-us/connectors/teams/"
_RFC_5321 = "https://www.rfc-editor.org/rfc/rfc5321#section-4.5.3.1.7"
_RFC_5322 = "https://www.rfc-editor.org/rfc/rfc5322#section-2.1.1"

# The key for the limit on a complete JSON body or email. Each of its text fields is limited to a share of
# this limit.
BODY = ""

# The limits by channel type, then by field name in the body.
LIMITS: Mapping[str, Mapping[str, Limit]] = MappingProxyType(
    {
        # Messages to the next two types are not cut, because programs read them. A webhook's event is smaller
        # than the maximum of 20 kB that Standard Webhooks recommends. Only the team knows the limits of a
        # custom channel's server.
        "webhook": {},
        "custom": {},
        "slack": {
            "text": Limit(4000, Unit.UTF_16, _SLACK),
            "fallback": Limit(1000, Unit.UTF_16, _SLACK),
        },
        "discord": {
            "title": Limit(256, Unit.UTF_16, _DISCORD),
            "description": Limit(4096, Unit.UTF_16, _DISCORD),
        },
        # The limit is 28 KB in UTF-16, in which most characters take two bytes:
        # https://stackoverflow.com/q/78034694
        "microsoft_teams": {
            "text": Limit(5000, Unit.BYTES_OF_JSON, _TEAMS),
            BODY: Limit(14_000, Unit.UTF_16, _TEAMS),
        },
        "google_chat": {
            "text": Limit(8000, Unit.BYTES_OF_JSON, _GOOGLE_CHAT),
            "fallbackText": Limit(8000, Unit.BYTES_OF_JSON, _GOOGLE_CHAT),
            BODY: Limit(32_000, Unit.BYTES, _GOOGLE_CHAT),
        },
        # Mattermost documents no limit. Servers before 5.0 accept up to 7,900 characters of attachments.
        "mattermost": {
            "text": Limit(4000, Unit.BYTES_OF_JSON, _MATTERMOST),
            "fallback": Limit(1000, Unit.BYTES_OF_JSON, _MATTERMOST),
            BODY: Limit(7900, Unit.CHARACTERS, _MATTERMOST),
        },
        "telegram": {
            "text": Limit(4096, Unit.UTF_16, "https://core.telegram.org/bots/api#sendmessage"),
        },
        "pagerduty": {
            "summary": Limit(1024, Unit.UTF_16, _PAGERDUTY),
            "dedup_key": Limit(255, Unit.UTF_16, _PAGERDUTY),
            # The page names no limit for this field, but says that it is meant for a host name.
            "source": Limit(255, Unit.UTF_16, _PAGERDUTY),
            BODY: Limit(512_000, Unit.BYTES, "https://developer.pagerduty.com/docs/events-api-v2-overview"),
        },
        "opsgenie": {
            "message": Limit(130, Unit.UTF_16, _OPSGENIE),
            "source": Limit(100, Unit.UTF_16, _OPSGENIE),
            "alias": Limit(512, Unit.UTF_16, _OPSGENIE),
            "description": Limit(15_000, Unit.UTF_16, _OPSGENIE),
            "note": Limit(25_000, Unit.UTF_16, _OPSGENIE),
        },
        # Every mail program's message list can show a subject of this length. RFC 5322 limits only the length
        # of each line of a header.
        "email": {
            "subject": Limit(200, Unit.CHARACTERS, _RFC_5322),
            "text": Limit(7000, Unit.BYTES, _RFC_5321),
            BODY: Limit(65_536, Unit.BYTES, _RFC_5321),
        },
        # ntfy refuses a longer message or turns it into an attachment. The complete JSON body may be twice as
        # long as the message.
        "ntfy": {
            "message": Limit(4096, Unit.BYTES_OF_JSON, _NTFY),
            BODY: Limit(8192, Unit.BYTES, _NTFY),
        },
        "pushover": {
            "title": Limit(250, Unit.CHARACTERS, _PUSHOVER),
            "message": Limit(1024, Unit.CHARACTERS, _PUSHOVER),
            "url": Limit(512, Unit.CHARACTERS, _PUSHOVER),
            "url_title": Limit(100, Unit.CHARACTERS, _PUSHOVER),
        },
    }
)


def _as_it_is(text: str) -> str:
    return text


def cut(text: str, limit: Limit, write: Callable[[str], str] = _as_it_is) -> str:
    """Escape a text with `write`, and cut its end to fit the limit.

    An escape sequence that `write` produces, such as `&amp;`, is never split.
    """
    written = write(text)
    while text and not limit.takes(written):
        text = text[:-1]
        written = write(f"{text.rstrip()}…")
    return written


def fit(text: str, limit: Limit, write: Callable[[str], str] = _as_it_is) -> str:
    """Escape a text with `write`, omitting as many of its last lines as needed to fit the limit.

    A final line gives the number of omitted lines. If even the first line does not fit, it is cut.
    """
    lines = text.splitlines()
    for kept in range(min(len(lines), MOST_LINES), 0, -1):
        left_out = len(lines) - kept
        said = [*lines[:kept], f"And {left_out} more."] if left_out else lines
        written = write("\n".join(said))
        if limit.takes(written):
            return written
    return cut(lines[0], limit, write) if lines else ""
