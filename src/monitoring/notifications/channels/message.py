"""A notification for people: title, text, mood and links, the same for every channel. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Mood(StrEnum):
    """Whether a message is good or bad news, as the colour of its margin."""

    BAD = "#c62828"
    GOOD = "#2e7d32"
    NEUTRAL = "#546e7a"

    @property
    def number(self) -> int:
        """The colour as a number, red in the highest byte."""
        return int(self.removeprefix("#"), 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """An event in plain text. Each line of `text` makes sense without the lines below it.

    `link` leads to the event's subject in the app, `acknowledge_link` to a page with one button.

    `subject_id` is the same for the opening and the end of an incident, and for all events of an article. A
    test has none. `source` is the host that was checked, or that of this service.
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
        """The title with the text, for a notification that shows nothing else."""
        return f"{self.title}: {self.text}"

    @property
    def links(self) -> Mapping[str, str]:
        """The links of the message, by the label of their button."""
        links = {"Open": self.link}
        return links | {"Acknowledge": self.acknowledge_link} if self.acknowledge_link else links

    @property
    def markdown_link(self) -> str:
        """The link to acknowledge, on a line of its own; empty without one."""
        return f"\n[Acknowledge]({self.acknowledge_link})" if self.acknowledge_link else ""

    @property
    def key(self) -> str:
        """The key by which providers group messages about one subject."""
        return str(self.subject_id or self.event)

    @property
    def acknowledges_incident(self) -> bool:
        """Whether this acknowledges the incident that an earlier message opened."""
        return self.event == "incident.acknowledged"

    @property
    def resolves_incident(self) -> bool:
        """Whether this resolves the incident that an earlier message opened."""
        return self.event == "incident.resolved"
