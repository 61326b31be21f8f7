"""A notification as people read it: a few words, a mood and links, the same for every channel. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Mood(StrEnum):
    """What a message means for its readers, as the colour of its margin."""

    BAD = "#c62828"
    GOOD = "#2e7d32"
    NEUTRAL = "#546e7a"

    @property
    def number(self) -> int:
        """The colour as a number, red in the highest byte."""
        return int(self.removeprefix("#"), 16)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """An event in plain text. Each line of `text` can stand without those below it.

    `link` leads to its subject in the app, `acknowledge_link` to one button there.

    `subject_id` is the same for the opening and the end of an incident, and for all events of an article. A
    test has none. `source` is the host of what was watched, or of this service.
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
        """Where the reader can go, by what buttons say."""
        links = {"Open": self.link}
        return links | {"Acknowledge": self.acknowledge_link} if self.acknowledge_link else links

    @property
    def markdown_link(self) -> str:
        """The link to acknowledge, on a line of its own; empty without one."""
        return f"\n[Acknowledge]({self.acknowledge_link})" if self.acknowledge_link else ""

    @property
    def key(self) -> str:
        """The key by which services recognise messages about one subject."""
        return str(self.subject_id or self.event)

    @property
    def takes_subject(self) -> bool:
        """Whether somebody takes care of what an earlier message about the subject began."""
        return self.event == "incident.acknowledged"

    @property
    def ends_subject(self) -> bool:
        """Whether this ends what an earlier message about the subject began."""
        return self.event == "incident.resolved"
