"""Articles on Acme's blog, delivered as by a publisher. A translation failed, and a segment was refused."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx

from monitoring.articles.models import Article, Translation, TranslationStatus
from monitoring.articles.refused_segments import store_refusals
from monitoring.articles.translation.article import read_article
from monitoring.articles.translation.judgement import Fault
from running_service import WEBHOOK_SECRET
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from running_service import RunningService

SHOES = {
    "id": "art_shoes",
    "title": "How to choose running shoes",
    "slug": "choose-running-shoes",
    "excerpt": "Fit beats shine: three questions before you buy.",
    "format": "markdown",
    "content": """\
# Fit first

A shoe that **fits** beats one that *shines*. Our [fitting guide](https://blog.acme.example/fit?size=42)
takes ten minutes, and you need no more than a sheet of paper, a pen and a wall.

![A pair of running shoes on a track](https://cdn.acme.example/shoes.jpg)

## Three questions

1. Where do you run: road, trail or track?
2. How far do you run in a week?
3. Which drop suits you? Look for `drop_mm` on the label.

> Buy in the evening. Your feet are larger then.

| Surface | Drop | Weight |
|:--------|-----:|-------:|
| Road    | 8 mm |  260 g |
| Trail   | 4 mm |  310 g |

## When to replace them

Most shoes last for about seven hundred kilometres. Look at the sole, not at the calendar: when the heel is
worn on one side, your knees will tell you soon.
""",
    "meta_title": "Choose running shoes in three questions",
    "meta_description": "Three questions to ask before you buy running shoes.",
    "images": [{"url": "https://cdn.acme.example/shoes.jpg", "alt": "A pair of running shoes on a track"}],
}
# The hash of a segment with marks.
MARKED = next(
    hash_ for segment, hash_ in read_article({"article": SHOES}).hashes.items() if "<g1>fits" in segment
)
RAIN = {
    "id": "art_rain",
    "title": "Running in the rain",
    "slug": "running-in-the-rain",
    "excerpt": "A cap, a light jacket and dry socks for the way home.",
    "content": (
        "<h2>What to wear</h2><p>A cap keeps the water out of your eyes.</p><p>Leave the cotton at home.</p>"
    ),
}
WINTER = {
    "id": "art_winter",
    "title": (
        "Five short runs for dark winter evenings,"
        " and why a reflective vest is worth more than a new pair of shoes"
    ),
    "slug": "five-short-runs-for-dark-winter-evenings",
    "content": "<p>Short runs are better than no runs.</p>",
}


def deliver_articles(service: RunningService) -> dict[str, str]:
    """Deliver them and wait for the translations. Return ids by what they show: whole, failed, short."""
    delivered = (("short", WINTER), ("failed", RAIN), ("whole", SHOES))
    made = {shows: deliver(service, article) for shows, article in delivered}
    wait_until(lambda: service.run(_count_untranslated()) == 0)
    service.run(_fail_one(made["failed"]))
    service.run(_refuse_one(made["whole"]))
    return made


def is_translated(article: dict[str, Any]) -> bool:
    """Say whether all translations of an article from the API are done."""
    return all(each["status"] == "translated" for each in article["translations"])


def deliver(service: RunningService, article: dict[str, Any]) -> str:
    """Deliver an article, and return its id."""
    answer = httpx.post(
        f"{service.base_url}/api/webhooks/publisher",
        json={"article": article},
        headers={"X-Webhook-Secret": WEBHOOK_SECRET},
        timeout=30,
    )
    article_id: str = answer.raise_for_status().json()["article_id"]
    return article_id


@contextmanager
def odd_article(service: RunningService, article: dict[str, Any]) -> Iterator[str]:
    """Deliver an article that other tests must not find, and yield its id while it is there, translated."""
    article_id = deliver(service, article)
    try:
        wait_until(lambda: service.run(_count_untranslated(article_id=article_id)) == 0)
        yield article_id
    finally:
        service.run(_take_away(article_id))


async def _count_untranslated(**which: str) -> int:
    return await Translation.filter(**which).exclude(status=TranslationStatus.TRANSLATED).count()


async def _take_away(article_id: str) -> None:
    await Article.filter(id=article_id).delete()


async def _refuse_one(article_id: str) -> None:
    translation = await Translation.get(article_id=article_id, locale="es")
    await store_refusals(translation.id, {MARKED: Fault.NUMBERS})
    await Translation.filter(id=translation.id).update(untranslated_segments=1)


async def _fail_one(article_id: str) -> None:
    article = await Article.get(id=article_id).prefetch_related("translations")
    translation = max(article.translations, key=lambda each: each.locale)
    await Translation.filter(id=translation.id).update(
        status=TranslationStatus.FAILED,
        attempts=8,
        reason="the engine refuses this language pair (456: quota exceeded)",
        translated_at=None,
    )
