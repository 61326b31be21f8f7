"""What publishers post in a shape of their own, from the first publication to the deletion.

The samples are written after what each publisher documents or sends:

- `ghost*.json`: https://docs.ghost.org/webhooks, and `test/e2e-webhooks/__snapshots__` in its source
- `outrank.json`: https://docs.outrank.so/article/using-webhooks-for-custom-integrations-evfi
- `wordpress.json`: https://developer.wordpress.org/rest-api/reference/posts/
- `wp_webhooks.json`: the demo in `integrations/wordpress/triggers/post_*.php` of the plugin WP Webhooks
- `blogseo.json`: https://www.blogseo.io/docs/integrations/custom-webhook
- `seocraft*.json`: https://www.seocraftai.com/docs/integrations/webhook
"""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

import chosen_backends
from articles.desk import read_page
from monitoring.articles.models import Article
from monitoring.articles.publishers import read_submissions
from monitoring.articles.publishing_words import read_status
from monitoring.contract.document import published_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

    from running_service import RunningService

Json = dict[str, Any]

SAMPLES = Path(__file__).parent / "samples"
WEBHOOK = "/api/webhooks/publisher"
OPERATION = published_document().operations["deliver_article"].definition
EXAMPLES = OPERATION["requestBody"]["content"]["application/json"]["examples"]
DELETION = {"X-WP-Webhook-Name": "post_delete"}


def read_sample(name: str) -> Json:
    sample: Json = json.loads((SAMPLES / f"{name}.json").read_text())
    return sample


@dataclass(frozen=True, slots=True)
class Life:
    """What a publisher posts in the life of an article, and how the first of it is stored."""

    published: Json
    updated: Json
    unpublished: Json
    deleted: Json
    stored: Json
    headers_of_deletion: Mapping[str, str]


def live_at_ghost() -> Life:
    post_id = uuid4().hex[:24]
    published, deleted = read_sample("ghost"), read_sample("ghost_deleted")
    published["post"]["current"]["id"] = deleted["post"]["previous"]["id"] = post_id
    updated = deepcopy(published)
    updated["post"]["current"] |= {"title": "Second title", "updated_at": "2026-11-20T09:10:00.000Z"}
    unpublished = deepcopy(updated)
    unpublished["post"]["current"] |= {"status": "draft", "updated_at": "2026-11-20T09:20:00.000Z"}
    deleted["post"]["previous"]["updated_at"] = "2026-11-20T09:20:00.000Z"
    stored = {
        "status": "published",
        "timestamp": "2026-11-20T09:00:03.000Z",
        "main_image": {
            "url": "https://ghost.example.com/content/images/shoes.jpg",
            "alt": "A pair of running shoes",
        },
        "article": {
            "id": post_id,
            "slug": "choosing-shoes",
            "title": "Choosing shoes",
            "meta_title": "Choosing running shoes",
            "published_at": "2026-11-20T09:00:03.000Z",
            "url": "https://ghost.example.com/choosing-shoes/",
            "content_html": "<p>A shoe that <strong>fits</strong> beats one that shines.</p>",
            "excerpt": "Fit beats shine.",
            "tags": ["Running"],
        },
    }
    return Life(published, updated, unpublished, deleted, stored, {})


def live_at_wordpress() -> Life:
    host = f"{uuid4()}.example.com"
    published = read_sample("wordpress") | {"link": f"https://{host}/hello-world/"}
    updated = published | {"title": {"rendered": "Second title"}, "modified_gmt": "2019-03-12T08:00:00"}
    unpublished = updated | {"status": "draft", "modified_gmt": "2019-03-13T08:00:00"}
    stored = {
        "status": "publish",
        "timestamp": "2019-03-11T11:46:53Z",
        "website": {"id": host, "baseUrl": f"https://{host}"},
        "article": {
            "id": 1,
            "slug": "hello-world",
            "title": "Tom & Ann say hello",
            "content_html": "\n<p>Welcome to WordPress. This is your first post.</p>\n",
            "excerpt": "Welcome to WordPress …",
            "published_at": "2019-03-11T11:46:53Z",
            "url": f"https://{host}/hello-world/",
        },
    }
    return Life(published, updated, unpublished, unpublished | {"event": "post.deleted"}, stored, {})


def live_at_wp_webhooks() -> Life:
    host = f"{uuid4()}.example.com"
    published = read_sample("wp_webhooks") | {"post_permalink": f"https://{host}/hello-world/"}
    updated, unpublished = deepcopy(published), deepcopy(published)
    updated["post"] |= {"post_title": "Second title", "post_modified_gmt": "2018-11-07 08:00:00"}
    unpublished["post"] |= {"post_status": "trash", "post_modified_gmt": "2018-11-08 08:00:00"}
    stored = {
        "status": "publish",
        "timestamp": "2018-11-06T14:19:18Z",
        "main_image": {"url": "https://mydomain.example/images/image.jpg", "alt": None},
        "website": {"id": host, "baseUrl": f"https://{host}"},
        "article": {
            "id": 1234,
            "slug": "hello-world",
            "title": "Hello world!",
            "content_html": "<p>Welcome to WordPress. This is your first post.</p>",
            "excerpt": "",
            "tags": ["Welcome"],
            "published_at": "2018-11-06T14:19:18Z",
            "url": f"https://{host}/hello-world/",
        },
    }
    return Life(published, updated, unpublished, unpublished, stored, DELETION)


def live_at_outrank() -> Life:
    """Take the words of the document for what Outrank does not document: it only publishes."""
    published = read_sample("outrank")
    del published["data"]["articles"][1]
    [article] = published["data"]["articles"]
    article["id"] = str(uuid4())
    updated = published | {
        "timestamp": "2023-04-02T12:00:00Z",
        "data": {"articles": [article | {"title": "Second title"}]},
    }
    unpublished = updated | {"event_type": "unpublish_articles", "timestamp": "2023-04-03T12:00:00Z"}
    deleted = updated | {"event_type": "delete_articles", "timestamp": "2023-04-04T12:00:00Z"}
    stored = {
        "event": "publish_articles",
        "timestamp": "2023-04-01T12:00:00Z",
        "main_image": {"url": "https://example.com/images/webhook-article.jpg", "alt": None},
        "article": {"published_at": "2023-03-31T10:30:00Z", **article},
    }
    return Life(published, updated, unpublished, deleted, stored, {})


def live_in_the_documents_shape(name: str) -> Life:
    """Take the document's words for what BlogSEO and SEOcraftAI do not document: they only publish."""
    published = deepcopy(EXAMPLES[name]["value"])
    published["article"]["id"] = str(uuid4())
    updated = published | {
        "timestamp": "2026-11-20T09:10:00Z",
        "article": published["article"] | {"title": "Second title"},
    }
    unpublished = updated | {"event": "unpublish", "timestamp": "2026-11-20T09:20:00Z"}
    deleted = updated | {"event": "delete", "timestamp": "2026-11-20T09:30:00Z"}
    return Life(published, updated, unpublished, deleted, published, {})


def live_at_blogseo() -> Life:
    return live_in_the_documents_shape("blogseo")


def live_at_seocraft() -> Life:
    return live_in_the_documents_shape("seocraftai")


TEXTS = frozenset({
    "content", "content_html", "content_markdown", "excerpt",
    "html", "plaintext", "custom_excerpt", "rendered", "post_content", "post_excerpt",
})  # fmt: skip


def with_empty_texts(payload: Json) -> Json:
    """Empty the texts of a payload, as an automation does that has no value for them."""

    def without(told: Json) -> Json:
        return told | {name: "" for name in TEXTS & told.keys() if isinstance(told[name], str)}

    emptied: Json = json.loads(json.dumps(payload), object_hook=without)
    return emptied


LIVES = (
    live_at_ghost,
    live_at_wordpress,
    live_at_wp_webhooks,
    live_at_outrank,
    live_at_blogseo,
    live_at_seocraft,
)


@pytest.fixture(params=LIVES)
def life(request: pytest.FixtureRequest) -> Life:
    made: Life = request.param()
    return made


def post_twice(publisher: httpx.Client, payload: Json, headers: Mapping[str, str] | None = None) -> Json:
    """Post a payload and repeat it, which must be answered alike."""
    first, second = (publisher.post(WEBHOOK, json=payload, headers=headers) for _ in range(2))
    assert first.status_code == 202, first.text
    assert first.json() == second.json()
    assert first.json()["status"] == "accepted"
    answer: Json = first.json()
    return answer


class TestLifeOfAnArticle:
    def test_is_published_in_the_documents_shape_without_what_that_has_no_place_for(
        self, service: RunningService, publisher: httpx.Client, life: Life
    ) -> None:
        answer = post_twice(publisher, life.published)
        article = publisher.get(f"/api/articles/{answer['article_id']}").json()
        assert (article["status"], article["revision"]) == ("published", 1)
        assert service.run(read_page(f"{article['slug']}/en.json"))["delivery"] == life.stored

    def test_is_revised_taken_back_and_deleted_under_one_id(
        self, publisher: httpx.Client, life: Life
    ) -> None:
        answer = post_twice(publisher, life.published)
        address = f"/api/articles/{answer['article_id']}"
        assert post_twice(publisher, life.updated) == answer
        revised = publisher.get(address).json()
        assert (revised["title"], revised["revision"]) == ("Second title", 2)
        withdrawn = answer | {"locales": []}
        assert post_twice(publisher, life.unpublished) == withdrawn
        assert publisher.get(address).json()["status"] == "unpublished"
        assert post_twice(publisher, life.deleted, life.headers_of_deletion) == withdrawn
        assert publisher.get(address).status_code == 404

    def test_keeps_its_text_when_an_update_has_only_empty_texts(
        self, service: RunningService, publisher: httpx.Client, life: Life
    ) -> None:
        post_twice(publisher, life.published)
        answer = post_twice(publisher, with_empty_texts(life.updated))
        article = publisher.get(f"/api/articles/{answer['article_id']}").json()
        stored = service.run(read_page(f"{article['slug']}/en.json"))["delivery"]["article"]
        kept = {name: text for name, text in life.stored["article"].items() if name in TEXTS}
        assert kept
        assert {name: stored[name] for name in kept} == kept

    def test_stays_deleted_when_an_old_payload_arrives_late(
        self, publisher: httpx.Client, life: Life
    ) -> None:
        answer = post_twice(publisher, life.published)
        post_twice(publisher, life.deleted, life.headers_of_deletion)
        assert publisher.post(WEBHOOK, json=life.updated).json()["locales"] == []
        assert publisher.get(f"/api/articles/{answer['article_id']}").status_code == 404


class TestSeveralArticles:
    def make_payload(self) -> Json:
        payload = read_sample("outrank")
        for article in payload["data"]["articles"]:
            article["id"] = str(uuid4())
        return payload

    def test_each_is_an_article_whose_id_is_told_in_order(self, publisher: httpx.Client) -> None:
        answer = post_twice(publisher, payload := self.make_payload())
        told = [publisher.get(f"/api/articles/{id_}").json()["title"] for id_ in answer["article_ids"]]
        assert told == [article["title"] for article in payload["data"]["articles"]]
        assert answer["article_id"] == answer["article_ids"][0]

    def test_what_was_refused_can_be_sent_again_as_a_whole(
        self, service: RunningService, publisher: httpx.Client
    ) -> None:
        payload = self.make_payload()
        alone = payload | {"data": {"articles": payload["data"]["articles"][:1]}}
        stored = publisher.post(WEBHOOK, json=alone).json()["article_id"]
        with chosen_backends.blog_storage_away(service.settings.data_dir):
            assert publisher.post(WEBHOOK, json=payload).status_code == 503
        answer = post_twice(publisher, payload)
        assert answer["article_ids"][0] == stored
        titles = [article["title"] for article in payload["data"]["articles"]]
        assert service.run(count_articles(*answer["article_ids"])) == len(titles)
        assert publisher.get(f"/api/articles/{stored}").json()["revision"] == 1


async def count_articles(*ids: str) -> int:
    return await Article.filter(id__in=ids).count()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_of_the_document_is_accepted(publisher: httpx.Client, name: str) -> None:
    assert publisher.post(WEBHOOK, json=EXAMPLES[name]["value"]).status_code == 202


class TestWhatIsPublic:
    @pytest.mark.parametrize(
        ("fields", "status"),
        [
            ({}, "published"),
            ({"visibility": None}, "published"),
            ({"visibility": "members"}, "unpublished"),
            ({"visibility": "paid"}, "unpublished"),
            ({"status": "sent"}, "unpublished"),
            ({"status": "scheduled"}, "unpublished"),
        ],
    )
    def test_a_post_of_ghost_is_for_everybody_or_a_draft(self, fields: Json, status: str) -> None:
        payload = read_sample("ghost")
        payload["post"]["current"] |= fields
        assert only_status(payload) == status

    @pytest.mark.parametrize("status", ["draft", "pending", "future", "private", "trash", "auto-draft"])
    def test_a_post_of_wordpress_is_public_with_its_status_alone(self, status: str) -> None:
        assert only_status(read_sample("wordpress") | {"status": status}) == "unpublished"

    def test_a_post_of_wordpress_behind_a_password_is_a_draft(self) -> None:
        rest, row = read_sample("wordpress"), read_sample("wp_webhooks")
        rest["content"]["protected"] = True
        row["post"]["post_password"] = "open sesame"
        assert only_status(rest) == only_status(row) == "unpublished"
        assert "sesame" not in str(read_submissions(row))

    def test_authors_are_not_kept(self) -> None:
        assert "jbloggs@example.com" in str(read_sample("ghost"))
        assert "jbloggs" not in str(read_submissions(read_sample("ghost")))


def only_status(payload: Json) -> str:
    [submission] = read_submissions(payload)
    return read_status(submission).value


class TestTimes:
    def test_a_post_of_wordpress_that_is_published_at_its_time_is_later_than_its_schedule(
        self, publisher: httpx.Client
    ) -> None:
        """WordPress changes nothing but the status then: `post_modified` stays."""
        times = {"modified_gmt": "2019-03-01T08:00:00", "date_gmt": "2019-03-11T11:46:53"}
        scheduled = live_at_wordpress().published | times
        waiting = scheduled | {"status": "future", "date_gmt": "2019-03-01T07:00:00"}
        address = publisher.post(WEBHOOK, json=waiting).headers["Location"]
        assert publisher.get(address).json()["status"] == "unpublished"
        publisher.post(WEBHOOK, json=scheduled)
        assert publisher.get(address).json()["status"] == "published"

    def test_a_draft_of_wordpress_has_no_time_of_publication(self) -> None:
        payload = read_sample("wp_webhooks")
        payload["post"] |= {"post_status": "draft", "post_date_gmt": "0000-00-00 00:00:00"}
        [submission] = read_submissions(payload)
        assert "published_at" not in submission["article"]
        assert submission["timestamp"] == "2018-11-06T14:19:18Z"


class TestWhatIsLeftOut:
    @pytest.mark.parametrize(
        "fields",
        [
            {"post_thumbnail": False, "post_permalink": False, "taxonomies": []},
            {"post_thumbnail": None, "post_permalink": "https://[", "taxonomies": {"post_tag": []}},
        ],
    )
    def test_php_writes_false_for_nothing_and_an_array_for_no_object(
        self, publisher: httpx.Client, fields: Json
    ) -> None:
        payload = read_sample("wp_webhooks") | {"post_id": str(uuid4())} | fields
        assert publisher.post(WEBHOOK, json=payload).status_code == 202
        [submission] = read_submissions(payload)
        assert submission.keys().isdisjoint({"main_image", "website"})
        assert submission["article"]["tags"] == []

    def test_a_time_of_outrank_that_is_no_text(self, publisher: httpx.Client) -> None:
        article = {"id": str(uuid4()), "title": "Shoes", "created_at": 1680258600}
        payload = {"event_type": "publish_articles", "data": {"articles": [article]}}
        assert publisher.post(WEBHOOK, json=payload).status_code == 202

    def test_the_trigger_of_another_shape(self, publisher: httpx.Client) -> None:
        submission = {"article": {"id": str(uuid4()), "title": "Shoes"}}
        answer = publisher.post(WEBHOOK, json=submission, headers=DELETION)
        assert answer.json()["locales"] != []


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("sent", "sentence"),
        [
            ({"post": {"current": None}}, "post.current: must be an object"),
            ({"post": {"current": {"html": 5}}}, "post.current.html: must be text or null"),
            ({"post": {"current": {"status": "gone"}}}, "post.current.status: must be one of"),
            ({"event_type": "liked", "data": {"articles": [{"id": 1}]}}, "event_type: must say publish,"),
            ({"event_type": "publish", "data": {"articles": []}}, "data.articles: must have a length of at"),
            (
                {"event_type": "publish", "data": {"articles": [{"id": 1}, {"language": "es"}]}},
                "data.articles.1.language: must be English",
            ),
            ({"title": {"rendered": "Shoes"}, "type": "page"}, "type: must be"),
            ({"title": {"rendered": "Shoes"}, "status": "sticky"}, "status: must say publish,"),
            ({"post_id": 1, "post": {"post_title": "A", "post_type": "revision"}}, "post.post_type: must be"),
            ({"article": 5, "post": {"current": {"id": "1"}}}, "article: must be an object"),
        ],
    )
    def test_is_named_in_the_publishers_own_words(
        self, publisher: httpx.Client, sent: Json, sentence: str
    ) -> None:
        answer = publisher.post(WEBHOOK, json=sent)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(sentence)
