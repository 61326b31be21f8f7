"""Publishers that deliver, change, repeat and reorder articles, and know what the service must keep."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random
    from threading import Event

    from replicas import Replicas

# In the past, because the service takes a time in the future for a wrong clock.
FIRST_EDITION = datetime(2020, 1, 1, tzinfo=UTC)
STEP = timedelta(seconds=10)
PARAGRAPHS = (5, 60)
NEW_ARTICLES = 1 / 3  # of all steps
TAKEN_BACK = 1 / 4  # of all steps that could

Payload = dict[str, Any]


@dataclass
class Manuscript:
    """An article at its publisher, and what the service must have made of the submissions so far.

    If two new contents are sent at once, the older may arrive second and is no revision: hence two bounds.
    """

    key: str
    slug: str
    clock: datetime = FIRST_EDITION
    editions: int = 0
    newest: Payload = field(default_factory=dict)
    superseded: list[Payload] = field(default_factory=list)
    fewest_revisions: int = 0
    most_revisions: int = 0
    article_id: str = ""
    status: str = "published"
    corrections: dict[str, str] = field(default_factory=dict)  # of the second paragraph, by locale

    def write(self, chance: Random, *, age: timedelta = -STEP) -> Payload:
        """Write a new edition, by default the newest. A quarter of its text is new."""
        self.editions += 1
        text = [
            f"Reason {self.key}.{number}.{self.editions if number % 4 == 0 else 0} is **fit**, says "
            f"[the guide](/{self.key}/{self.editions})."
            for number in range(chance.randint(*PARAGRAPHS))
        ]
        article = {"id": self.key, "title": f"Shoes {self.key}, edition {self.editions}", "slug": self.slug}
        moment = self.clock - age
        self.clock = max(self.clock, moment)
        return {
            "article": article | {"format": "markdown", "content": "\n\n".join(text)},
            "edition": f"{self.key}/{self.editions}",
            "timestamp": moment.isoformat(),
        }

    def replace_by(self, payload: Payload) -> None:
        """Record the newest edition."""
        if self.newest:
            self.superseded.append(self.newest)
        self.newest = payload
        self.status = "published"
        self.fewest_revisions += 1
        self.most_revisions += 1

    def take_back(self, event: str, status: str) -> Payload:
        """Record that the article is taken back, and return what says so."""
        self.clock += STEP
        self.status = status
        if status == "deleted":
            self.corrections.clear()
        return {"event": event, "article": {"id": self.key}, "timestamp": self.clock.isoformat()}


class Publisher:
    """Delivers its own articles step by step, repeating each step until it is accepted.

    `editor` is the header with a token that may correct translations.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what it stands on, and what makes it itself
        self,
        name: str,
        replicas: Replicas,
        secret: str,
        editor: dict[str, str],
        locales: list[str],
        chance: Random,
    ) -> None:
        self.manuscripts: list[Manuscript] = []
        self._name = name
        self._replicas = replicas
        self._headers = {"X-Webhook-Secret": secret}
        self._editor = editor
        self._locales = locales
        self._chance = chance
        self._threads = ThreadPoolExecutor(2, thread_name_prefix=name)

    def publish(self, over: Event, pause_seconds: float) -> None:
        """Go on until the run is over, and finish the last step."""
        changes: list[Callable[[Manuscript], None]] = [
            self._update,
            self._update,
            self._update_twice_at_once,
            self._send_two_editions_at_once,
            self._repeat,
            self._confirm,
            self._correct,
            self._correct,
            self._unpublish,
            self._delete,
            self._send_an_old_edition_again,
            self._send_an_edition_from_the_past,
        ]
        while not over.wait(self._chance.uniform(0, 2 * pause_seconds)):
            if not self.manuscripts or self._chance.random() < NEW_ARTICLES:
                self._begin()
            else:
                self._chance.choice(changes)(self._chance.choice(self.manuscripts))

    def _begin(self) -> None:
        """Deliver a new article. Every other publisher has an article with the same slug."""
        number = len(self.manuscripts)
        manuscript = Manuscript(f"{self._name}-{number}", f"shoes-{number}")
        self.manuscripts.append(manuscript)
        first: list[Callable[[Manuscript], None]] = [
            self._update,
            self._update_twice_at_once,
            self._send_two_editions_at_once,
        ]
        self._chance.choice(first)(manuscript)

    def _update(self, manuscript: Manuscript) -> None:
        manuscript.replace_by(manuscript.write(self._chance))
        self._deliver("new revision", manuscript, manuscript.newest)

    def _update_twice_at_once(self, manuscript: Manuscript) -> None:
        manuscript.replace_by(manuscript.write(self._chance))
        self._deliver("new revision, twice at once", manuscript, manuscript.newest, manuscript.newest)

    def _send_two_editions_at_once(self, manuscript: Manuscript) -> None:
        older, newer = manuscript.write(self._chance), manuscript.write(self._chance)
        manuscript.replace_by(newer)
        manuscript.most_revisions += 1
        self._deliver("two editions at once", manuscript, older, newer)
        manuscript.superseded.append(older)

    def _repeat(self, manuscript: Manuscript) -> None:
        self._deliver("duplicate", manuscript, manuscript.newest)

    def _confirm(self, manuscript: Manuscript) -> None:
        """Send the same content with a later time.

        It is no revision, but makes older content stale, and publishes what was taken back.
        """
        manuscript.clock += STEP
        confirmation = manuscript.newest | {"timestamp": manuscript.clock.isoformat()}
        if manuscript.status == "deleted":  # then it is the first content again
            manuscript.replace_by(confirmation)
        elif manuscript.status == "unpublished":
            manuscript.newest, manuscript.status = confirmation, "published"
        self._deliver("the same content with a later time", manuscript, confirmation)

    def _correct(self, manuscript: Manuscript) -> None:
        """Correct a paragraph that all editions have, or take the correction back."""
        if manuscript.status != "published":
            return
        locale = self._chance.choice(self._locales)
        ids = {"article_id": manuscript.article_id, "locale": locale}
        listed = self._replicas.insist(
            "list_translation_segments", "200", ids=ids, headers=self._editor, params={"limit": 100}
        )
        beginning = f"Reason {manuscript.key}.1.0 "
        segment = next(each for each in listed.json()["segments"] if each["source"].startswith(beginning))
        takes_back = locale in manuscript.corrections and self._chance.random() < TAKEN_BACK
        words = f"Correction {self._chance.random()} of {beginning}"
        text = None if takes_back else segment["source"].replace(beginning, words)
        ids["segment_id"] = segment["id"]
        self._replicas.insist(
            "correct_translation_segment", "200", ids=ids, headers=self._editor, json={"text": text}
        )
        if takes_back:
            del manuscript.corrections[locale]
        else:
            manuscript.corrections[locale] = words
        self._replicas.journal.count("Deliveries", "a correction, or one taken back")

    def _unpublish(self, manuscript: Manuscript) -> None:
        if manuscript.status == "published":
            payload = manuscript.take_back("article.unpublished", "unpublished")
            self._deliver("unpublished, twice at once", manuscript, payload, payload)

    def _delete(self, manuscript: Manuscript) -> None:
        self._deliver("deleted", manuscript, manuscript.take_back("article.deleted", "deleted"))

    def _send_an_old_edition_again(self, manuscript: Manuscript) -> None:
        if manuscript.superseded:
            self._deliver("stale, sent before", manuscript, self._chance.choice(manuscript.superseded))

    def _send_an_edition_from_the_past(self, manuscript: Manuscript) -> None:
        payload = manuscript.write(self._chance, age=STEP / 2)
        self._deliver("stale, never seen", manuscript, payload)

    def _deliver(self, kind: str, manuscript: Manuscript, *payloads: Payload) -> None:
        """Deliver all at the same time, repeating each until it gets a 202."""
        journal = self._replicas.journal
        is_found = manuscript.status != "deleted"
        for said, location in self._threads.map(self._insist, payloads):
            journal.count("Deliveries", kind)
            manuscript.article_id = manuscript.article_id or said["article_id"]
            locales = self._locales if manuscript.status == "published" else []
            expected = {"article_id": manuscript.article_id, "status": "accepted", "locales": locales}
            if said != expected:
                journal.record_violation(f"{manuscript.key} was answered {said} instead of {expected}")
            if location != (f"/api/articles/{said['article_id']}" if is_found else None):
                journal.record_violation(f"{said} came with the Location {location}")

    def _insist(self, payload: Payload) -> tuple[Payload, str | None]:
        answer = self._replicas.insist("deliver_article", "202", headers=self._headers, json=payload)
        return answer.json(), answer.headers.get("location")
