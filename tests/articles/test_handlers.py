from __future__ import annotations

import json
import re
import time
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pytest

import chosen_backends
from articles.desk import read_page
from cast import Player
from monitoring.articles import queries
from monitoring.articles.models import Article, Translation
from monitoring.articles.submissions import identify_article
from monitoring.backends.current import current_backends
from running_service import WEBHOOK_SECRET, running_service

if TYPE_CHECKING:
    import httpx

    from monitoring.auth.models import Team
    from monitoring.contract.catalogue import Catalogue
    from running_service import RunningService

SAMPLES = Path(__file__).parent / "samples"
NEWCOMERS_SAMPLE = Path(__file__).parents[2] / "docs/examples/article.json"
LONG_TEXT = "A shoe that fits beats one that shines."
WEBHOOK = "/api/webhooks/publisher"


def read_sample(path: Path) -> dict[str, Any]:
    """Read a sample as an article of its own."""
    submission: dict[str, Any] = json.loads(path.read_text())
    submission["article"]["id"] = str(uuid4())
    return submission


def wait_until_settled(publisher: httpx.Client, location: str) -> dict[str, Any]:
    """Ask until every locale is translated or failed."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        article: dict[str, Any] = publisher.get(location).raise_for_status().json()
        if all(row["status"] in ("translated", "failed") for row in article["translations"]):
            return article
    pytest.fail("the translations did not settle")


class TestDeliverArticle:
    @pytest.mark.parametrize(
        "path",
        [SAMPLES / "blogseo.json", SAMPLES / "seocraft.json", NEWCOMERS_SAMPLE],
        ids=lambda path: path.stem,
    )
    def test_takes_what_publishers_send_and_translates_it_without_damage(
        self, service: RunningService, publisher: httpx.Client, path: Path
    ) -> None:
        submission = read_sample(path)
        answer = publisher.post(WEBHOOK, json=submission)
        assert answer.status_code == 202
        assert answer.json()["locales"] == list(service.settings.locales)
        article = wait_until_settled(publisher, answer.headers["Location"])
        assert {row["status"] for row in article["translations"]} == {"translated"}
        english = service.run(read_page(f"{article['slug']}/en.json"))
        assert english["delivery"] == submission
        for locale in service.settings.locales:
            page = service.run(read_page(f"{article['slug']}/{locale}.json"))
            assert (page["locale"], page["revision"]) == (locale, 1)
            assert page["delivery"]["article"]["title"] != submission["article"]["title"]
            assert page["delivery"]["website"] == submission["website"]
            assert tags_and_links(page) == tags_and_links(english)

    def test_stores_no_test_submission(self, service: RunningService, publisher: httpx.Client) -> None:
        ping = read_sample(SAMPLES / "seocraft_test.json")
        answer = publisher.post(WEBHOOK, json=ping)
        assert answer.status_code == 202
        assert answer.json() == {"article_id": None, "status": "ignored", "locales": []}
        assert "Location" not in answer.headers
        assert not service.run(article_exists(ping))

    @pytest.mark.parametrize("event", ["test", "article.test", "PING"])
    def test_takes_a_test_without_an_article(self, publisher: httpx.Client, event: str) -> None:
        answer = publisher.post(WEBHOOK, json={"event": event, "post": {"current": {"id": "1"}}})
        assert (answer.status_code, answer.json()["status"]) == (202, "ignored")

    def test_demands_an_article_of_other_events(self, publisher: httpx.Client, catalogue: Catalogue) -> None:
        answer = publisher.post(WEBHOOK, json={"event": "publish"})
        refusal = catalogue.respond("invalid_field", values={"field": "article", "problem": "is required"})
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)

    @pytest.mark.parametrize(
        "article", [{}, {"title": None, "content": ""}, {"title": " ", "content_html": "\n", "tags": ["fit"]}]
    )
    def test_publishes_no_empty_page(
        self, service: RunningService, publisher: httpx.Client, catalogue: Catalogue, article: dict[str, Any]
    ) -> None:
        submission = {"event": "publish", "article": {"id": str(uuid4()), **article}}
        answer = publisher.post(WEBHOOK, json=submission)
        refusal = catalogue.respond("article_empty")
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)
        assert not service.run(article_exists(submission))

    def test_refuses_a_new_article_whose_text_is_not_read(
        self, service: RunningService, publisher: httpx.Client, catalogue: Catalogue
    ) -> None:
        submission = {"article": {"id": str(uuid4()), "title": "Fit", "blocks": [{"text": LONG_TEXT}]}}
        answer = publisher.post(WEBHOOK, json=submission)
        refusal = catalogue.respond("text_not_read", values={"field": "article.blocks"})
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)
        assert not service.run(article_exists(submission))
        update = submission["article"] | {"event": "update"}
        assert publisher.post(WEBHOOK, json={"article": update | {"content": LONG_TEXT}}).status_code == 202
        assert publisher.post(WEBHOOK, json={"article": update}).status_code == 202

    @pytest.mark.parametrize(
        "fields",
        [{"draft": True}, {"published": "false"}, {"post_status": "private"}, {"visibility": "paid"}],
    )
    def test_publishes_no_draft_that_others_call_so(
        self, publisher: httpx.Client, fields: dict[str, Any]
    ) -> None:
        article = {"id": str(uuid4()), "title": "Fit", "body": LONG_TEXT}
        location = publisher.post(WEBHOOK, json={"article": article}).headers["Location"]
        answer = publisher.post(WEBHOOK, json={"event": "updated", "article": article | fields})
        assert (answer.status_code, answer.json()["locales"]) == (202, [])
        assert publisher.get(location).json()["status"] == "unpublished"

    @pytest.mark.parametrize(
        ("told", "field"),
        [
            ({"event_type": "article.liked"}, "event_type"),
            ({"article": {"postStatus": "sticky"}}, "article.postStatus"),
            ({"article": {"draft": "perhaps"}}, "article.draft"),
            ({"is_published": []}, "is_published"),
        ],
    )
    def test_guesses_no_value_under_the_names_of_others(
        self, publisher: httpx.Client, told: dict[str, Any], field: str
    ) -> None:
        answer = publisher.post(
            WEBHOOK, json={**told, "article": {"title": "Fit", **told.get("article", {})}}
        )
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(f"{field}: must ")

    def test_translates_a_text_where_it_stands(
        self, service: RunningService, publisher: httpx.Client
    ) -> None:
        article = {"id": str(uuid4()), "headline": "Fit first", "bodyHtml": f"<p>{LONG_TEXT}</p>"}
        answer = publisher.post(WEBHOOK, json={"article": article})
        stored = wait_until_settled(publisher, answer.headers["Location"])
        assert (stored["title"], stored["slug"]) == ("Fit first", "fit-first")
        for locale in service.settings.locales:
            translated = service.run(read_page(f"fit-first/{locale}.json"))["delivery"]["article"]
            assert translated["headline"] != article["headline"]
            assert LONG_TEXT not in translated["bodyHtml"]

    @pytest.mark.parametrize(
        "ping", [{"event": "webhook.test"}, {"type": "test"}, {"eventType": "ping"}, {"test": True}]
    )
    def test_takes_a_test_by_any_of_its_names(self, publisher: httpx.Client, ping: dict[str, Any]) -> None:
        answer = publisher.post(WEBHOOK, json=ping)
        assert (answer.status_code, answer.json()["status"]) == (202, "ignored")

    def test_reads_a_body_behind_a_byte_order_mark(self, publisher: httpx.Client) -> None:
        body = b'\xef\xbb\xbf{"event": "test"}'
        answer = publisher.post(WEBHOOK, content=body, headers={"Content-Type": "application/json"})
        assert answer.status_code == 202

    @pytest.mark.parametrize(
        "fields",
        [{"tags": "run, fit"}, {"tags": {}}, {"seo": []}, {"images": {}}, {"keyword": ["fit", "run"]}],
    )
    def test_takes_what_others_write_in_another_form(
        self, publisher: httpx.Client, fields: dict[str, Any]
    ) -> None:
        answer = publisher.post(WEBHOOK, json={"article": {"id": str(uuid4()), "title": "Fit", **fields}})
        assert answer.status_code == 202

    @pytest.mark.parametrize("event", ["post.tag.attached", "post.tag.detached"])
    def test_takes_what_ghost_tells_of_tags_for_an_update(self, publisher: httpx.Client, event: str) -> None:
        submission = json.loads((SAMPLES / "ghost.json").read_text()) | {"event": event}
        answer = publisher.post(WEBHOOK, json=submission)
        assert (answer.status_code, bool(answer.json()["locales"])) == (202, True)

    @pytest.mark.parametrize(
        ("event", "status"), [("article.unpublished", 200), ("post_updated", 200), ("ARTICLE.DELETED", 404)]
    )
    def test_does_what_the_event_says(self, publisher: httpx.Client, event: str, status: int) -> None:
        submission = read_sample(SAMPLES / "blogseo.json")
        location = publisher.post(WEBHOOK, json=submission).headers["Location"]
        submission |= {"event": event, "article": {"id": submission["article"]["id"]}}
        answer = publisher.post(WEBHOOK, json=submission)
        assert (answer.status_code, answer.json()["status"]) == (202, "accepted")
        assert ("Location" in answer.headers) is (status == 200)
        assert publisher.get(location).status_code == status
        assert bool(answer.json()["locales"]) is (event == "post_updated")

    @pytest.mark.parametrize(
        ("told", "sentence"),
        [
            ({"event": "article.liked"}, "event: must say publish, update, unpublish, delete, draft or test"),
            ({"status": "sticky"}, "status: must say publish, update, unpublish, delete, draft or test"),
            ({"article": {"status": "sticky"}}, "article.status: must say publish, update,"),
            ({"language": "es"}, "language: must be English"),
            ({"article": {"language": "Spanish"}}, "article.language: must be English"),
        ],
    )
    def test_guesses_neither_an_event_nor_a_language(
        self, service: RunningService, publisher: httpx.Client, told: dict[str, Any], sentence: str
    ) -> None:
        submission = {**told, "article": {"id": str(uuid4()), **told.get("article", {})}}
        answer = publisher.post(WEBHOOK, json=submission)
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(sentence)
        assert not service.run(article_exists(submission))

    @pytest.mark.parametrize("language", ["en", "en-US", "en_GB", "English", "", None])
    def test_takes_english_by_any_of_its_names(self, publisher: httpx.Client, language: str | None) -> None:
        article = {"id": str(uuid4()), "title": "Shoes", "language": language}
        submission = {"language": language, "article": article}
        assert publisher.post(WEBHOOK, json=submission).status_code == 202

    def test_answers_the_same_article_twice_with_the_same_id(self, publisher: httpx.Client) -> None:
        submission = read_sample(SAMPLES / "blogseo.json")
        first, second = (publisher.post(WEBHOOK, json=submission) for _ in range(2))
        assert first.json() == second.json()
        assert first.headers["Location"] == second.headers["Location"]
        assert publisher.get(first.headers["Location"]).json()["revision"] == 1

    def test_takes_7_and_7_0_for_one_id(self, publisher: httpx.Client) -> None:
        website = {"id": str(uuid4())}
        first, second = (
            publisher.post(WEBHOOK, json={"article": {"id": id_, "title": "Shoes"}, "website": website})
            for id_ in (7, 7.0)
        )
        assert first.status_code == second.status_code == 202
        assert first.json()["article_id"] == second.json()["article_id"]

    def test_takes_null_for_an_image_and_a_website_that_are_not_there(self, publisher: httpx.Client) -> None:
        article = {"id": str(uuid4()), "title": "Shoes"}
        submission = {"article": article, "main_image": None, "website": None}
        assert publisher.post(WEBHOOK, json=submission).status_code == 202

    @pytest.mark.parametrize(
        ("sent", "hint"),
        [
            ({"page": {"current": {"title": "Shoes"}}}, "page.current"),
            ({"sys": {"id": "1", "type": "Entry"}, "fields": {"title": {"en-US": "Shoes"}}}, "Contentful"),
            ({"event": "entry.publish", "model": "article", "entry": {"title": "Shoes"}}, "Strapi"),
            ({"_id": "1", "_type": "post", "title": "Shoes"}, "Sanity"),
            ({"title": "Shoes", "body": "Fit"}, "send what you sent"),
        ],
    )
    def test_tells_other_products_how_to_wrap_what_they_send(
        self, publisher: httpx.Client, sent: dict[str, Any], hint: str
    ) -> None:
        answer = publisher.post(WEBHOOK, json=sent)
        told = answer.json()["error"]
        assert answer.status_code == 400
        assert told.startswith("article: is required; ")
        assert hint in told
        assert told.endswith("}}")

    @pytest.mark.parametrize("sent", [{"post": None}, {"post": 5}, {"data": {}}, {"event": "publish"}])
    def test_guesses_nothing_else(
        self, publisher: httpx.Client, catalogue: Catalogue, sent: dict[str, Any]
    ) -> None:
        values = {"field": "article", "problem": "is required"}
        refusal = catalogue.respond("invalid_field", values=values)
        assert publisher.post(WEBHOOK, json=sent).json() == refusal.body

    def test_tells_that_a_timestamp_is_text(self, publisher: httpx.Client) -> None:
        answer = publisher.post(WEBHOOK, json={"article": {"title": "Shoes"}, "timestamp": 1763629200})
        assert answer.json()["error"].startswith("timestamp: must be text")

    def test_names_the_field_inside_an_image(self, publisher: httpx.Client, catalogue: Catalogue) -> None:
        submission = {"article": {"id": str(uuid4())}, "main_image": {"alt": 7}}
        answer = publisher.post(WEBHOOK, json=submission)
        values = {"field": "main_image.alt", "problem": "must be text or null"}
        refusal = catalogue.respond("invalid_field", values=values)
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)

    @pytest.mark.parametrize(
        "article",
        [
            {"seo": None, "tags": None, "images": None, "keyword": None, "main_image_url": None},
            {"seo": {}, "tags": [], "images": [], "keyword": "", "main_image_url": ""},
            {
                "tags": [{"id": 1, "name": "shoes"}, None, "fit", 7],
                "images": ["https://cdn.example.com/a.jpg"],
            },
        ],
    )
    def test_takes_tags_images_and_seo_in_any_form(
        self, publisher: httpx.Client, article: dict[str, Any]
    ) -> None:
        submission = {"article": {"id": str(uuid4()), "title": "Shoes", **article}}
        assert publisher.post(WEBHOOK, json=submission).status_code == 202

    def test_refuses_before_it_reads_when_no_blog_storage_is_configured(
        self, tmp_path: Path, catalogue: Catalogue, publisher: httpx.Client
    ) -> None:
        with running_service(tmp_path, blog_storage_url=None) as service:
            answer = publisher.post(f"{service.base_url}{WEBHOOK}", content=b"{ not even JSON")
            state = publisher.get(f"{service.base_url}/api/articles/{uuid4()}")
        refusal = catalogue.respond("blog_storage_not_configured")
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)
        assert state.status_code == 404

    def test_asks_to_come_back_and_keeps_nothing_when_the_storage_fails(
        self, service: RunningService, publisher: httpx.Client, catalogue: Catalogue
    ) -> None:
        submission = read_sample(SAMPLES / "blogseo.json")
        with chosen_backends.blog_storage_away(service.settings.data_dir):
            answer = publisher.post(WEBHOOK, json=submission)
        refusal = catalogue.respond("service_unavailable")
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)
        assert not service.run(article_exists(submission))
        assert publisher.post(WEBHOOK, json=submission).status_code == 202
        assert service.run(article_exists(submission))

    def test_stops_who_has_not_seen_the_last_revision(
        self, publisher: httpx.Client, catalogue: Catalogue
    ) -> None:
        article = {"id": str(uuid4()), "title": "Shoes"}
        location = publisher.post(WEBHOOK, json={"article": article}).headers["Location"]
        seen = {"If-Match": publisher.get(location).headers["ETag"]}
        publisher.post(WEBHOOK, json={"article": {**article, "title": "Running shoes"}})
        refused = publisher.delete(location, headers=seen)
        assert (refused.status_code, refused.json()) == (412, catalogue.respond("article_changed").body)
        now = {"If-Match": publisher.get(location).headers["ETag"]}
        assert publisher.delete(location, headers=now).is_success

    def test_demands_the_secret(self, mallory: httpx.Client, catalogue: Catalogue) -> None:
        answer = mallory.post(WEBHOOK, json={}, headers={"X-Webhook-Secret": f"{WEBHOOK_SECRET}x"})
        refusal = catalogue.respond("webhook_secret_invalid")
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)


class TestGetArticle:
    def test_answers_the_state_of_every_locale(
        self, service: RunningService, publisher: httpx.Client
    ) -> None:
        location = publisher.post(WEBHOOK, json=read_sample(NEWCOMERS_SAMPLE)).headers["Location"]
        article = wait_until_settled(publisher, location)
        assert UUID(article["id"]).version == 7
        assert [row["locale"] for row in article["translations"]] == sorted(service.settings.locales)
        assert {row["attempts"] for row in article["translations"]} == {1}
        assert all(row["translated_at"] >= article["received_at"] for row in article["translations"])

    def test_knows_no_other_article(self, publisher: httpx.Client, catalogue: Catalogue) -> None:
        answer = publisher.get(f"/api/articles/{uuid4()}")
        refusal = catalogue.respond("article_not_found")
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)

    def test_demands_the_secret(self, mallory: httpx.Client) -> None:
        assert mallory.get(f"/api/articles/{uuid4()}").status_code == 401


@pytest.fixture
def tag() -> str:
    """Tells a test's articles from those of others: an installation has one list."""
    return f"Tag {uuid4()}"


def submit(publisher: httpx.Client, article_id: str | None = None, **article: Any) -> str:
    """Submit an article, and return its path once its translations are settled."""
    submission = {"article": {"id": article_id or str(uuid4()), "title": "Shoes", **article}}
    location: str = publisher.post(WEBHOOK, json=submission).headers["Location"]
    wait_until_settled(publisher, location)
    return location


def list_paths(site: Player, **query: str) -> list[str]:
    articles = site.get("/api/articles", params=query).raise_for_status().json()["articles"]
    return [f"/api/articles/{article['id']}" for article in articles]


def just_after(moment: str) -> str:
    return (datetime.fromisoformat(moment) + timedelta(microseconds=1)).isoformat()


def last_change(site: Player, path: str) -> str:
    article = site.get(path).json()
    times: list[str] = [article["updated_at"], *(row["translated_at"] for row in article["translations"])]
    return max(times)


class TestListArticles:
    def test_lists_articles_as_they_are_read_one_by_one(
        self, publisher: httpx.Client, site: Player, tag: str
    ) -> None:
        paths = [submit(publisher, title=title, tags=[tag, "shoes", tag, 7, ""]) for title in ("One", "Two")]
        listed = site.get("/api/articles", params={"tag": tag}).json()
        assert listed == {"articles": [site.get(path).json() for path in paths[::-1]], "next_cursor": None}
        assert {tuple(article["tags"]) for article in listed["articles"]} == {(tag, "shoes")}

    def test_lists_what_was_taken_back_only_for_who_asks_for_it(
        self, publisher: httpx.Client, site: Player, tag: str
    ) -> None:
        identity = str(uuid4())
        published, unpublished = submit(publisher, tags=[tag]), submit(publisher, identity, tags=[tag])
        deleted = submit(publisher, tags=[tag])
        publisher.post(WEBHOOK, json={"event": "unpublish", "article": {"id": identity}})
        publisher.delete(deleted)
        assert published in list_paths(site, tag=tag)
        assert not {unpublished, deleted} & set(list_paths(site, tag=tag))
        assert list_paths(site, tag=tag, status="unpublished") == [unpublished]
        gone = site.get("/api/articles", params={"status": "deleted"}).json()["articles"][0]
        assert f"/api/articles/{gone['id']}" == deleted
        assert (gone["status"], gone["title"], gone["tags"], gone["translations"]) == (
            "deleted",
            None,
            [],
            [],
        )

    def test_finds_what_is_translated_into_a_locale(
        self, service: RunningService, publisher: httpx.Client, site: Player, tag: str
    ) -> None:
        whole, half = (submit(publisher, tags=[tag]) for _ in range(2))
        service.run(change_translations(half, "es", status="failed", translated_at=None))
        assert list_paths(site, tag=tag, locale="es") == [whole]
        service.run(change_translations(whole, "es", status="queued"))  # to be translated again
        assert list_paths(site, tag=tag, locale="es") == [whole]
        assert list_paths(site, tag=tag, locale="en") == [half, whole]
        assert list_paths(site, tag=tag, locale="pt") == [half, whole]
        assert list_paths(site, tag=tag, locale="fr") == []

    @pytest.mark.parametrize("odd", [",", "%", 'a "quoted" one', "Größe", "\\", "', '"])
    def test_finds_a_tag_to_the_letter(
        self, publisher: httpx.Client, site: Player, tag: str, odd: str
    ) -> None:
        path, other = submit(publisher, tags=[tag, odd]), submit(publisher, tags=[tag, "fit", "shoes"])
        assert path in list_paths(site, tag=odd)
        assert other not in list_paths(site, tag=odd)
        assert list_paths(site, tag=tag.upper()) == list_paths(site, tag=tag[:-1]) == []

    @pytest.mark.parametrize("few_changes", [0, queries.FEW_CHANGES])
    def test_finds_what_changed_since_a_time(
        self,
        publisher: httpx.Client,
        site: Player,
        tag: str,
        monkeypatch: pytest.MonkeyPatch,
        few_changes: int,
    ) -> None:
        monkeypatch.setattr(queries, "FEW_CHANGES", few_changes)
        identity = str(uuid4())
        path = submit(publisher, identity, title="Shoes", tags=[tag])
        translated_at = last_change(site, path)
        assert list_paths(site, tag=tag, updated_since=translated_at) == [path]
        assert list_paths(site, tag=tag, updated_since="2001-01-01T00:00:00Z") == [path]
        since = just_after(translated_at)
        assert list_paths(site, tag=tag, updated_since=since) == []
        publisher.post(WEBHOOK, json={"event": "unpublish", "article": {"id": identity}})
        assert list_paths(site, tag=tag, updated_since=since, status="unpublished") == [path]
        since = just_after(site.get(path).json()["updated_at"])
        publisher.post(WEBHOOK, json={"event": "publish", "article": {"id": identity}})
        assert site.get(path).json()["revision"] == 1
        assert list_paths(site, tag=tag, updated_since=since) == [path]

    def test_goes_on_after_the_last_one_of_a_page(
        self, publisher: httpx.Client, site: Player, tag: str
    ) -> None:
        first, second = (submit(publisher, tags=[tag]) for _ in range(2))
        page = site.get("/api/articles", params={"tag": tag, "limit": 1}).json()
        assert list_paths(site, tag=tag, limit="1") == [second]
        assert list_paths(site, tag=tag, limit="1", cursor=page["next_cursor"]) == [first]

    def test_is_refused_to_a_team_that_may_not_read_articles(
        self, service: RunningService, team: Team, publisher: httpx.Client, catalogue: Catalogue
    ) -> None:
        path = submit(publisher)
        refusal = catalogue.respond("articles_not_shared")
        with Player(service, team, ["articles:read"]) as reader:
            for each in ("/api/articles", path, f"{path}/translations/es"):
                answer = reader.get(each)
                assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)


class TestGetArticleTranslation:
    def test_answers_what_the_blog_storage_has(
        self, service: RunningService, publisher: httpx.Client, site: Player
    ) -> None:
        submission = {
            "article": {"id": str(uuid4()), "title": "Shoes", "tags": [{"id": 7}, None], "own": [1.5, True]},
            "locale": {"of": "the publisher"},
            "main_image": None,
        }
        location = publisher.post(WEBHOOK, json=submission).headers["Location"]
        slug = wait_until_settled(publisher, location)["slug"]
        english, spanish = (site.get(f"{location}/translations/{locale}").json() for locale in ("en", "es"))
        assert english["submission"] == submission
        assert (english["locale"], english["engine"], english["translated_at"]) == ("en", None, None)
        stored = service.run(read_page(f"{slug}/es.json"))
        assert spanish["submission"] == stored["delivery"]
        told = ("article_id", "slug", "locale", "revision", "translated_at", "engine", "is_demonstration")
        assert [spanish[name] for name in told] == [stored[name] for name in told]

    def test_is_not_sent_again_until_it_changes(
        self, service: RunningService, publisher: httpx.Client, site: Player
    ) -> None:
        path = submit(publisher, title="Shoes")
        slug = site.get(path).json()["slug"]
        first = site.get(f"{path}/translations/es")
        known = {"If-None-Match": first.headers["ETag"]}
        again = site.get(f"{path}/translations/es", headers=known)
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["ETag"] == first.headers["ETag"]
        assert again.headers["Cache-Control"] == first.headers["Cache-Control"] == "private, no-cache"
        service.run(correct_title(f"{slug}/es.json"))
        changed = site.get(f"{path}/translations/es", headers=known)
        assert (changed.status_code, changed.json()["revision"]) == (200, first.json()["revision"])
        assert changed.headers["ETag"] != first.headers["ETag"]

    def test_answers_the_revision_before_while_a_new_one_waits(
        self, service: RunningService, publisher: httpx.Client, site: Player
    ) -> None:
        path = submit(publisher, title="Shoes")
        service.run(change_translations(path, "es", status="failed", revision=2))
        assert site.get(f"{path}/translations/es").json()["revision"] == 1

    @pytest.mark.parametrize("locale", ["fr", "gone", "no%20locale"])
    def test_knows_no_other_locale(
        self, publisher: httpx.Client, site: Player, catalogue: Catalogue, locale: str
    ) -> None:
        answer = site.get(f"{submit(publisher)}/translations/{locale}")
        refusal = catalogue.respond("translation_not_found")
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)

    @pytest.mark.parametrize("article_id", ["019a9c41-0c2e-7f55-8a3b-6d1f9e4b7a12", "none"])
    def test_knows_no_other_article(self, site: Player, catalogue: Catalogue, article_id: str) -> None:
        answer = site.get(f"/api/articles/{article_id}/translations/es")
        refusal = catalogue.respond("article_not_found")
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)

    def test_shows_nothing_of_what_was_taken_back_though_its_files_are_still_there(
        self, service: RunningService, publisher: httpx.Client, site: Player, catalogue: Catalogue
    ) -> None:
        path = submit(publisher)
        service.run(change_status(path, "unpublished"))
        answer = site.get(f"{path}/translations/en")
        refusal = catalogue.respond("translation_not_found")
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)

    def test_asks_to_come_back_while_the_storage_is_away(
        self, service: RunningService, publisher: httpx.Client, site: Player, catalogue: Catalogue
    ) -> None:
        path = submit(publisher)
        with chosen_backends.blog_storage_away(service.settings.data_dir):
            answer = site.get(f"{path}/translations/es")
        refusal = catalogue.respond("service_unavailable")
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)


class TestSegments:
    def test_are_corrected_and_left_to_the_engine_again(
        self, publisher: httpx.Client, site: Player, editor: Player
    ) -> None:
        path = submit(publisher, title="Boots", content="Fit **beats** shine.", format="markdown")
        segments = f"{path}/translations/es/segments"
        title, sentence = site.get(segments).json()["segments"]
        assert (title["source"], title["is_corrected"]) == ("Boots", False)
        words = "Manda el <g1>ajuste</g1>."
        by_people = sentence | {"text": words, "is_corrected": True}
        for text, after in ((words, by_people), (None, sentence)):
            corrected = editor.put(f"{segments}/{sentence['id']}", json={"text": text}).json()
            assert corrected == after
            assert site.get(segments).json()["segments"] == [title, corrected]
            wait_until_settled(publisher, path)
            page = site.get(f"{path}/translations/es").json()
            assert page["corrected_segments"] == corrected["is_corrected"]

    def test_come_in_pages(self, publisher: httpx.Client, site: Player) -> None:
        path = submit(publisher, title="Shoes", content="One.\n\nTwo.", format="markdown")
        listed = partial(site.get, f"{path}/translations/es/segments")
        page = listed(params={"limit": 1}).json()
        met = page["segments"]
        while page["next_cursor"]:
            page = listed(params={"limit": 1, "cursor": page["next_cursor"]}).json()
            met += page["segments"]
        assert [segment["source"] for segment in met] == ["Shoes", "One.", "Two."]
        assert listed().json() == {"segments": met, "next_cursor": None}

    def test_keep_their_codes(self, publisher: httpx.Client, editor: Player, catalogue: Catalogue) -> None:
        path = submit(publisher, title=None, content="Fit **beats** shine.", format="markdown")
        segments = f"{path}/translations/es/segments"
        (sentence,) = editor.get(segments).json()["segments"]
        answer = editor.put(f"{segments}/{sentence['id']}", json={"text": "Manda el ajuste."})
        refusal = catalogue.respond("correction_codes_broken")
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)
        assert editor.get(segments).json()["segments"] == [sentence]

    @pytest.mark.parametrize("text", ["Zapatos", None])
    @pytest.mark.parametrize("segment_id", ["0" * 32, "none"])
    def test_are_those_of_the_article_alone(
        self, publisher: httpx.Client, editor: Player, catalogue: Catalogue, segment_id: str, text: str | None
    ) -> None:
        path = f"{submit(publisher, title='Shoes')}/translations/es/segments/{segment_id}"
        answer = editor.put(path, json={"text": text})
        refusal = catalogue.respond("segment_not_found")
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)

    def test_are_in_the_articles_locales_alone(
        self, publisher: httpx.Client, site: Player, catalogue: Catalogue
    ) -> None:
        answer = site.get(f"{submit(publisher)}/translations/en/segments")
        refusal = catalogue.respond("translation_not_found")
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)

    def test_are_not_changed_by_who_may_only_read(
        self, publisher: httpx.Client, site: Player, catalogue: Catalogue
    ) -> None:
        path = f"{submit(publisher)}/translations/es/segments/{'0' * 32}"
        answer = site.put(path, json={"text": None})
        refusal = catalogue.respond("insufficient_permissions", values={"scope": "articles:write"})
        assert (answer.status_code, answer.json()) == (refusal.status, refusal.body)


async def change_translations(path: str, locale: str, **changes: Any) -> None:
    article_id = path.rpartition("/")[2]
    await Translation.filter(article_id=article_id, locale=locale).update(**changes)


async def change_status(path: str, status: str) -> None:
    await Article.filter(id=path.rpartition("/")[2]).update(status=status)


async def correct_title(path: str) -> None:
    """Store another translation of the same revision."""
    page = await read_page(path)
    page["delivery"]["article"]["title"] = "Zapatos"
    storage = current_backends().blog_storage
    assert storage
    await storage.put(path, json.dumps(page).encode())


async def article_exists(submission: dict[str, Any]) -> bool:
    return await Article.exists(identity=identify_article(submission))


def tags_and_links(page: dict[str, Any]) -> list[str]:
    """List what no translation may change: tags, addresses and code, in their order."""
    article = page["delivery"]["article"]
    text = "\n".join(article.get(name) or "" for name in ("content", "content_html", "content_markdown"))
    return re.findall(r"</?[a-z]\w*|https?://[^\s)\"<]+|`[^`]+`", text)


class TestDeleteArticle:
    def test_erases_it_once(
        self, service: RunningService, publisher: httpx.Client, catalogue: Catalogue
    ) -> None:
        submission = read_sample(SAMPLES / "blogseo.json")
        location = publisher.post(WEBHOOK, json=submission).headers["Location"]
        article = wait_until_settled(publisher, location)
        answer = publisher.delete(location)
        assert (answer.status_code, answer.content) == (204, b"")
        assert service.run(read_page(f"{article['slug']}/en.json")) is None
        assert service.run(read_page(f"{article['slug']}/gone.json"))["status"] == "deleted"
        again = publisher.delete(location)
        assert (again.status_code, again.json()) == (404, catalogue.respond("article_not_found").body)

    def test_demands_the_secret(self, mallory: httpx.Client, publisher: httpx.Client) -> None:
        location = publisher.post(WEBHOOK, json={"article": {"title": str(uuid4())}}).headers["Location"]
        assert mallory.delete(location).status_code == 401
        assert publisher.get(location).status_code == 200
