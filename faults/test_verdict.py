"""The verdict can go against the service: it names everything that is damaged, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any
from uuid import UUID

import orjson
import pytest

from monitoring.backends.durable_files import SIGN_OF_LIFE
from publishers import Manuscript
from verdict import Kept, judge

if TYPE_CHECKING:
    from collections.abc import Callable

ARTICLE_ID = "019a9c41-0c2e-7f55-8a3b-6d1f9e4b7a12"


def deliver(editions: int) -> Manuscript:
    manuscript = Manuscript("p1-0", "shoes-0", article_id=ARTICLE_ID)
    for _ in range(editions):
        manuscript.replace_by(manuscript.write(Random(1)))
    manuscript.corrections["es"] = "Correction 1 of Reason p1-0.1.0 "
    return manuscript


def keep(manuscript: Manuscript) -> Kept:
    """Keep everything as promised."""
    newest, revision = manuscript.newest, manuscript.fewest_revisions
    page = {"article_id": ARTICLE_ID, "slug": manuscript.slug, "revision": revision}
    content = newest["article"]["content"].replace("Reason p1-0.1.0 ", manuscript.corrections["es"])
    translated = newest | {"article": newest["article"] | {"content": f"¡{content}!"}}
    return Kept(
        articles=[
            {
                "id": UUID(ARTICLE_ID),
                "identity": f"id:{manuscript.key}",
                "slug": manuscript.slug,
                "status": "published",
                "title": newest["article"]["title"],
                "revision": revision,
                "payload": orjson.dumps(newest).decode(),
            }
        ],
        translations=[
            {
                "article_id": UUID(ARTICLE_ID),
                "locale": "es",
                "revision": revision,
                "status": "translated",
                "attempts": 1,
                "reason": None,
            }
        ],
        objects={
            "shoes-0/en.json": orjson.dumps(page | {"locale": "en", "delivery": newest}),
            "shoes-0/es.json": orjson.dumps(page | {"locale": "es", "delivery": translated}),
            SIGN_OF_LIFE: b"This service can write here.\n",
        },
    )


MANUSCRIPT = deliver(2)
KEPT = keep(MANUSCRIPT)


def change_article(**columns: Any) -> Kept:
    return replace(KEPT, articles=[{**KEPT.articles[0], **columns}])


def change_translation(**columns: Any) -> Kept:
    return replace(KEPT, translations=[{**KEPT.translations[0], **columns}])


def change_object(path: str, change: Callable[[bytes], bytes]) -> Kept:
    return replace(KEPT, objects={**KEPT.objects, path: change(KEPT.objects[path])})


def change_page(path: str, **fields: Any) -> Kept:
    return change_object(path, lambda content: orjson.dumps(orjson.loads(content) | fields))


OLD, NEW = MANUSCRIPT.superseded[0], MANUSCRIPT.newest
OTHER_ID = "019a9c42-0000-7f55-8a3b-6d1f9e4b7a12"
EARLIER_ID = "019a9c40-0000-7f55-8a3b-6d1f9e4b7a12"

SPOILT = {
    "an article lost": (replace(KEPT, articles=[]), f"p1-0: article {ARTICLE_ID} is not stored"),
    "an article nobody sent": (
        replace(KEPT, articles=[*KEPT.articles, {"id": OTHER_ID, "identity": "id:p9"}]),
        f"article {OTHER_ID} (id:p9) was never delivered",
    ),
    "a row with the earlier edition": (
        change_article(payload=orjson.dumps(OLD).decode()),
        "p1-0: the row has edition p1-0/1 instead of p1-0/2",
    ),
    "a duplicate counted as a revision": (
        change_article(revision=3),
        "p1-0: is revision 3, and 2 to 2 were delivered",
    ),
    "a translation missing": (replace(KEPT, translations=[]), "p1-0: has translations into []"),
    "a translation twice": (
        replace(KEPT, translations=[*KEPT.translations] * 2),
        "p1-0: has translations into ['es', 'es']",
    ),
    "a translation given up": (
        change_translation(status="failed", attempts=8, reason="No"),
        "p1-0: es is failed after 8 attempts (No)",
    ),
    "a translation of the earlier revision": (
        change_translation(revision=1),
        "p1-0: es is of revision 1 instead of 2",
    ),
    "a translation nobody made": (
        change_translation(attempts=0),
        "p1-0: es is translated without an attempt",
    ),
    "an object missing": (
        replace(KEPT, objects={path: KEPT.objects[path] for path in ["shoes-0/en.json"]}),
        "p1-0: object shoes-0/es.json is missing",
    ),
    "an object nobody needs": (
        replace(KEPT, objects={**KEPT.objects, "shoes-1/en.json": b"{}"}),
        "object shoes-1/en.json should not exist",
    ),
    "half an object": (
        change_object("shoes-0/en.json", lambda content: content[:100]),
        "p1-0: object shoes-0/en.json is no whole JSON (100 bytes)",
    ),
    "an object of the earlier revision": (
        change_page("shoes-0/es.json", revision=1),
        "p1-0: object shoes-0/es.json has revision 1 instead of 2",
    ),
    "an object of another article": (
        change_page("shoes-0/es.json", article_id=OTHER_ID),
        f"p1-0: object shoes-0/es.json has article_id {OTHER_ID} instead of {ARTICLE_ID}",
    ),
    "the earlier original": (
        change_page("shoes-0/en.json", delivery=OLD),
        "p1-0: object shoes-0/en.json has edition p1-0/1 instead of p1-0/2",
    ),
    "an original that was changed": (
        change_page("shoes-0/en.json", delivery=NEW | {"timestamp": "now"}),
        "p1-0: object shoes-0/en.json is not what was delivered",
    ),
    "English under another name": (
        change_page("shoes-0/es.json", delivery=NEW),
        "p1-0: object shoes-0/es.json is no translation of what was delivered",
    ),
    "the engine's words in place of an editor's": (
        change_object("shoes-0/es.json", lambda content: content.replace(b"Correction 1 of ", b"")),
        "p1-0: object shoes-0/es.json has not the words of its editor",
    ),
    "a correction that was taken back": (
        change_object("shoes-0/es.json", lambda content: content.replace(b"Correction 1", b"Correction 0")),
        "p1-0: object shoes-0/es.json has not the words of its editor",
    ),
}


GONE = {"article_id": ARTICLE_ID, "status": "deleted"}
DELETED_MANUSCRIPT = replace(MANUSCRIPT, status="deleted")
DELETED = replace(
    change_article(status="deleted", payload="{}", title=None),
    translations=[],
    objects={"shoes-0/gone.json": orjson.dumps(GONE)},
)

RETURNED = {
    "an article that is public again": (
        replace(DELETED, articles=[{**DELETED.articles[0], "status": "published"}]),
        "p1-0: is published instead of deleted",
    ),
    "its text": (
        replace(DELETED, articles=[{**DELETED.articles[0], "payload": '{"article": {}}'}]),
        "p1-0: has content although it was deleted",
    ),
    "a translation": (replace(DELETED, translations=KEPT.translations), "p1-0: has a translation into es"),
    "a file": (
        replace(DELETED, objects={**DELETED.objects, "shoes-0/es.json": b"{}"}),
        "object shoes-0/es.json should not exist",
    ),
    "no tombstone": (replace(DELETED, objects={}), "p1-0: object shoes-0/gone.json says {}"),
}


def test_an_article_that_is_gone_is_no_violation() -> None:
    assert list(judge([DELETED_MANUSCRIPT], DELETED, ["es"])) == []


@pytest.mark.parametrize("what", RETURNED)
def test_what_is_left_of_a_deleted_article_is_named(what: str) -> None:
    kept, sentence = RETURNED[what]
    assert sentence in list(judge([DELETED_MANUSCRIPT], kept, ["es"]))


def test_what_was_promised_and_kept_is_no_violation() -> None:
    assert list(judge([MANUSCRIPT], KEPT, ["es"])) == []


@pytest.mark.parametrize(("article_id", "violations"), [(EARLIER_ID, 0), (OTHER_ID, 1)])
def test_a_first_page_may_be_that_of_an_attempt_whose_process_was_killed(
    article_id: str, violations: int
) -> None:
    manuscript = deliver(1)
    kept = keep(manuscript)
    page = orjson.loads(kept.objects["shoes-0/en.json"]) | {"article_id": article_id}
    spoilt = replace(kept, objects={**kept.objects, "shoes-0/en.json": orjson.dumps(page)})
    assert len(list(judge([manuscript], spoilt, ["es"]))) == violations


@pytest.mark.parametrize("what", SPOILT)
def test_what_is_spoilt_is_named(what: str) -> None:
    kept, sentence = SPOILT[what]
    assert sentence in list(judge([MANUSCRIPT], kept, ["es"]))
