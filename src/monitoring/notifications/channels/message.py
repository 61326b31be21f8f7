"""The channel-independent form of a notification for people: title, text, mood and links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Mood(StrEnum):
    """Whether a message is good, bad or neutral news. The value is its colour."""

    BAD = "#c62828"
    GOOD = "#2e7d32"
    NEUTRAL = "#546e7a"

    @property
    def number(self) -> int:
        """The colour as an integer, 0xRRGGBB."""
        return int(self.removeprefix("#"), 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """An event rendered as plain text. The first lines of `text` make sense even if the last lines are cut.

    `link` leads to the event's subject in the app. `acknowledge_link` leads to a page with a button that
    acknowledges the incident. All messages about the same incident or article share a `subject_id`. A test
    message has no `subject_id`. `source` is the host that is checked, or this service's host.
    """

    event: str
    mood: Mood
    title: str
    text: str
    link: str
    source: str
    subject_id: UUID | None = None
    acknowledge_link: str | None = None

    @property
    def summary(self) -> str:
        """The title and text in one string, for providers that require a plain fallback text."""
        return f"{self.title}: {self.text}"

    @property
    def links(self) -> Mapping[str, str]:
        """The message's links, by button label."""
        links = {"Open": self.link}
        return links | {"Acknowledge": self.acknowledge_link} if self.acknowledge_link else links

    @property
    def markdown_link(self) -> str:
        """The acknowledge link in Markdown, on its own line; empty if the message has none."""
        return f"\n[Acknowledge]({self.acknowledge_link})" if self.acknowledge_link else ""

    @property
    def key(self) -> str:
        """The key that providers use to group messages about the same subject."""
        return str(self.subject_id or self.event)

    @property
    def acknowledges_incident(self) -> bool:
        """Whether the message reports that an incident was acknowledged."""
        return self.event == "incident.acknowledged"

    @property
    def resolves_incident(self) -> bool:
        """Whether the message reports that an incident was resolved."""
        return self.event == "incident.resolved"
