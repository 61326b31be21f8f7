"""Articles in the app: states, retries and both languages side by side, for the teams that may see them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import httpx
import pytest

import chosen_backends
from app.test_live_pages import following
from app.visitor import Visitor, read_text
from cast import form_team
from monitoring.app.articles import corrections
from monitoring.app.articles import pages as articles
from monitoring.app.articles.labels import FAULTS
from monitoring.app.sentences import NOTICES, REFUSALS
from monitoring.articles.history import forget_history
from monitoring.articles.models import Article, Translation, TranslationStatus
from monitoring.articles.refused_segments import store_refusals
from monitoring.articles.storage import find_versions, page_transaction, put_page
from monitoring.articles.translation.judgement import Fault
from monitoring.articles.translation.translated_segments import segment_hash
from monitoring.articles.usage import count_waiting_for_budget, list_usage, this_month
from monitoring.audit.service import list_entries
from monitoring.auth.service import create_team
from monitoring.contract.cursors import PagedList, encode_cursor
from monitoring.notifications.service import create_channel
from running_service import WEBHOOK_SECRET, RunningService, running_service
from service_process import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from monitoring.auth.models import Team

WEBHOOK = "/api/webhooks/publisher"
WITHDRAWN = {"unpublish": "unpublished", "delete": "deleted"}
PAYLOAD = "<img src=https://evil.example/x onerror=alert(1)><script>alert(1)</script>\"'&"
PAGER = {"type": "webhook", "name": "Pager", "url": "https://127.0.0.1/", "events": ["article.translated"]}
REASON = f"The engine said {PAYLOAD}"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Run a service whose articles the team Editors may see."""
    with running_service(tmp_path_factory.mktemp("editors"), article_teams="Editors") as running:
        yield running


@pytest.fixture(scope="module")
def team(service: RunningService) -> Team:
    return service.run(create_team("Editors", "free", 10))


@pytest.fixture(scope="module")
def editor(service: RunningService, team: Team) -> Iterator[Visitor]:
    """Is a member, but not an owner, of the team that sees articles."""
    with Visitor(service, team, "member") as visitor:
        yield visitor


def deliver(publisher: httpx.Client, title: str | None = "Running shoes", **article: Any) -> str:
    """Deliver a new article, and return its id."""
    delivery = {"article": {"id": str(uuid4()), "title": title, **article}}
    article_id: str = publisher.post(WEBHOOK, json=delivery).raise_for_status().json()["article_id"]
    return article_id


def deliver_translated(
    service: RunningService, publisher: httpx.Client, title: str | None = "Running shoes", **article: Any
) -> str:
    """Deliver an article, and wait until both locales are translated."""
    article_id = deliver(publisher, title, **article)
    wait_until_translated(service, article_id)
    return article_id


def wait_until_translated(service: RunningService, article_id: str) -> None:
    wait_until(lambda: set(states(service, article_id).values()) == {"translated"})


def states(service: RunningService, article_id: str) -> dict[str, str]:
    async def read() -> dict[str, str]:
        return {row.locale: row.status for row in await Translation.filter(article_id=article_id)}

    return service.run(read())


def change(service: RunningService, article_id: str, locales: list[str], **fields: Any) -> None:
    async def update() -> None:
        await Translation.filter(article_id=article_id, locale__in=locales).update(**fields)

    service.run(update())


def fail(service: RunningService, article_id: str, *locales: str) -> None:
    change(service, article_id, list(locales), status=TranslationStatus.FAILED, reason=REASON, attempts=8)


def store(service: RunningService, article_id: str, locale: str, payload: Any, **fields: Any) -> None:
    """Replace a page in the blog storage."""

    async def put() -> None:
        article = await Article.get(id=article_id)
        versions = await find_versions(article.slug, locale)
        async with page_transaction():
            await put_page(article, locale, payload, replacing=versions, **fields)

    service.run(put())


def sentence(service: RunningService, name: str) -> str:
    body: Any = service.app.contract.catalogue.respond(name).body
    return str(body["error"])


class Elements(HTMLParser):
    """Notes the attributes of every element of a page, as a browser would understand it."""

    def __init__(self, page: httpx.Response) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def assert_disarmed(page: httpx.Response) -> None:
    """Make sure that the page runs nothing and loads nothing from other hosts."""
    elements = Elements(page).found
    assert page.status_code == 200
    for tag, attributes in elements:
        assert tag not in ("iframe", "object", "embed", "style", "base", "svg", "video")
        assert not [name for name in attributes if name.startswith("on") or name in ("style", "srcset")]
        for name in ("src", "href", "action"):
            assert (attributes.get(name) or "/app").startswith(("/app", "#"))
    loaded = [
        each.get("src") or each.get("href") for tag, each in elements if tag in ("img", "script", "link")
    ]
    assert loaded
    assert all((address or "").startswith("/app/assets/") for address in loaded)


class TestList:
    def test_shows_each_article_with_the_state_of_every_locale(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher, "How to tie", slug=f"tie-{uuid4()}")
        page = editor.open("/articles")
        assert page.status_code == 200
        assert f"/app/articles/{article_id}" in page.text
        text = read_text(page.text)
        assert "How to tie" in text
        assert "2 of 2 translated" in text

    def test_is_live(self, publisher: httpx.Client, editor: Visitor) -> None:
        with following(editor, "/articles") as pages:
            next(pages)
            deliver(publisher, "Dancing shoes")
            assert "Dancing shoes" in next(pages)

    @pytest.mark.parametrize("path", ["", "/es"])
    def test_leads_to_articles_that_are_live(
        self, path: str, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher)
        with following(editor, f"/articles/{article_id}{path}") as pages:
            next(pages)
            fail(service, article_id, "es")
            assert "The engine said" in read_text(next(pages))

    def test_tells_why_a_translation_failed_and_disarms_what_engines_and_publishers_write(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher, PAYLOAD, slug=PAYLOAD)
        fail(service, article_id, "es")
        page = editor.open("/articles?status=failed")
        assert_disarmed(page)
        assert REASON in read_text(page.text)
        assert PAYLOAD in read_text(page.text)

    def test_leaves_articles_with_a_translation_in_the_state_that_is_asked_for(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        failed, translated = (deliver_translated(service, publisher) for _ in range(2))
        fail(service, failed, "pt")
        with_failed = editor.open("/articles?status=failed").text
        assert failed in with_failed
        assert translated not in with_failed
        assert translated in editor.open("/articles?status=translated").text

    def test_goes_on_with_older_articles_in_the_same_state(
        self,
        service: RunningService,
        publisher: httpx.Client,
        editor: Visitor,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(articles, "ARTICLES_A_PAGE", 1)
        older, newer = (deliver_translated(service, publisher) for _ in range(2))
        first = editor.open("/articles?status=translated")
        assert newer in first.text
        assert older not in first.text
        [following] = re.findall(r'rel="next" href="/app([^"]*)"', first.text)
        second = editor.open(following.replace("&amp;", "&"))
        assert older in second.text
        assert newer not in second.text

    def test_says_so_when_there_is_none(self, editor: Visitor) -> None:
        page = editor.open(f"/articles?cursor={encode_cursor(PagedList.ARTICLES, UUID(int=0))}")
        assert page.status_code == 200
        assert "No articles here" in read_text(page.text)
        assert 'href="/app/articles">Show all articles</a>' in page.text


class TestOfOtherTeams:
    @pytest.mark.parametrize("path", ["", "/{article_id}", "/{article_id}/es"])
    def test_members_find_nothing(self, service: RunningService, publisher: httpx.Client, path: str) -> None:
        article_id = deliver(publisher, "For editors only")
        with Visitor(service, form_team(service)) as outsider:
            page = outsider.open(f"/articles{path.format(article_id=article_id)}")
            assert page.status_code == 404
            assert "For editors only" not in page.text
            assert '"/app/articles"' not in outsider.open("/settings/account").text

    def test_members_retry_nothing(self, service: RunningService, publisher: httpx.Client) -> None:
        article_id = deliver_translated(service, publisher)
        fail(service, article_id, "es")
        with Visitor(service, form_team(service)) as outsider:
            page = outsider.submit("/settings/account", "/sign-out")
            outsider.sign_in(outsider.email, outsider.password)
            token = re.findall(r'name="csrf_token" value="(\w+)"', outsider.open("/settings/account").text)[0]
            page = outsider.post(f"/articles/{article_id}/retry", data={"csrf_token": token})
        assert page.status_code == 404
        assert states(service, article_id)["es"] == "failed"

    def test_nobody_sees_articles_where_no_team_is_named(self, tmp_path: Any) -> None:
        with (
            running_service(tmp_path) as service,
            Visitor(service, service.run(create_team("Editors", "free", 10))) as visitor,
        ):
            assert visitor.open("/articles").status_code == 404


class TestArticle:
    def test_shows_what_is_known_of_every_locale(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher, "How to lace")
        fail(service, article_id, "pt")
        page = editor.open(f"/articles/{article_id}")
        text = read_text(page.text)
        assert "How to lace" in text
        assert REASON in text
        assert f"/app/articles/{article_id}/es" in page.text
        assert_disarmed(page)

    def test_that_does_not_exist_is_not_found(self, service: RunningService, editor: Visitor) -> None:
        for article_id in (uuid4(), "no-id"):
            assert editor.open(f"/articles/{article_id}").status_code == 404
        assert sentence(service, "article_not_found") in read_text(editor.open(f"/articles/{uuid4()}").text)

    def test_tells_what_happened_newest_first(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor, team: Team
    ) -> None:
        service.run(create_channel(team.id, PAGER))
        identity = str(uuid4())
        article_id = deliver_translated(service, publisher, "Fit", id=identity)
        page = f"/articles/{article_id}"
        # One that an earlier release translated is known by its row.
        service.run(forget_history(UUID(article_id)))
        deliver_translated(service, publisher, "Fit first", id=identity)
        [form] = re.findall(rf'href="/app({page}/es/segments/\w+)"', editor.open(f"{page}/es/segments").text)
        editor.submit(form, form, text="Un título")
        editor.submit(f"{page}/unpublish", f"{page}/unpublish")
        publisher.post(WEBHOOK, json={"article": {"id": identity, "status": "published"}}).raise_for_status()
        told = [
            re.sub("<.*?>", "", title)
            for title in re.findall(r"<strong>(.*?)</strong>", editor.open(page).text)
        ]
        of_pager = [title for title in told if title.startswith("Pager ")]
        assert of_pager
        assert [title for title in told if title not in of_pager and "Translated" not in title] == [
            "Published",
            f"{editor.user.name} unpublished it",
            f"{editor.user.name} corrected Spanish",
            "Revision 2 received from the publisher",
            "Received from the publisher",
        ]
        # In one entry or two: the pager may be told of one before the other is translated.
        translated = " ".join(title for title in told if title.startswith("Translated into"))
        assert "Portuguese" in translated
        assert "Spanish" in translated

    def test_without_a_title_goes_by_its_folder(self, publisher: httpx.Client, editor: Visitor) -> None:
        slug = f"untitled-{uuid4()}"
        article_id = deliver(publisher, None, slug=slug, content="Fit first.")
        assert f"<h1><bdi>{slug}</bdi></h1>" in editor.open(f"/articles/{article_id}").text


class TestRetry:
    def test_of_one_locale_translates_that_one_and_is_in_the_audit_log(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor, team: Team
    ) -> None:
        article_id = deliver_translated(service, publisher)
        fail(service, article_id, "es", "pt")
        page = editor.open(f"/articles/{article_id}")
        token = re.findall(r'name="csrf_token" value="(\w+)"', page.text)[0]
        assert page.text.count('name="locale"') == 2
        done = editor.post(f"/articles/{article_id}/retry", data={"csrf_token": token, "locale": "es"})
        assert NOTICES["translations_retried"] in read_text(done.text)
        wait_until(lambda: states(service, article_id) == {"es": "translated", "pt": "failed"})
        [entry, *_] = service.run(list_entries(team.id, 1, None)).rows
        assert (entry.action, entry.subject_id) == ("article.translations_retried", article_id)
        assert entry.subject.endswith(": es")
        assert entry.actor == editor.email

    def test_of_all_that_failed(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher)
        fail(service, article_id, "es", "pt")
        action = f"/articles/{article_id}/retry"
        editor.submit(f"/articles/{article_id}", action, locale="")
        wait_until(lambda: set(states(service, article_id).values()) == {"translated"})

    def test_of_nothing_that_failed_is_no_act(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor, team: Team
    ) -> None:
        article_id = deliver_translated(service, publisher)
        fail(service, article_id, "es")
        action = f"/articles/{article_id}/retry"
        before = service.run(list_entries(team.id, 1, None)).rows[0].id
        done = editor.submit(f"/articles/{article_id}", action, locale="pt")
        assert NOTICES["translations_retried"] not in read_text(done.text)
        assert states(service, article_id) == {"es": "failed", "pt": "translated"}
        assert service.run(list_entries(team.id, 1, None)).rows[0].id == before

    def test_needs_a_form_of_ours(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher)
        fail(service, article_id, "es")
        refused = editor.post(f"/articles/{article_id}/retry", data={"locale": "es"})
        assert refused.status_code == 403
        assert states(service, article_id)["es"] == "failed"

    def test_is_not_offered_where_nothing_failed(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher)
        assert f"/app/articles/{article_id}/retry" not in editor.open(f"/articles/{article_id}").text


class TestTranslatingAgain:
    def test_asks_the_engine_for_every_sentence_if_told_to_and_is_in_the_audit_log(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor, team: Team
    ) -> None:
        article_id = deliver_translated(service, publisher)
        asked_before = asked_of_the_engine(service)
        page = f"/articles/{article_id}/retranslate"
        assert f'href="/app{page}"' in editor.open(f"/articles/{article_id}").text
        done = editor.submit(page, page, locale="es", forgets_memory="on")
        assert NOTICES["article_retranslated"] in read_text(done.text)
        wait_until(lambda: asked_of_the_engine(service) > asked_before)
        wait_until(lambda: set(states(service, article_id).values()) == {"translated"})
        [entry, *_] = service.run(list_entries(team.id, 1, None)).rows
        assert (entry.action, entry.subject_id) == ("article.retranslated", article_id)

    def test_is_not_offered_while_nothing_is_translated(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher)
        change(service, article_id, ["es", "pt"], status=TranslationStatus.TRANSLATING)
        page = f"/articles/{article_id}/retranslate"
        assert f'action="/app{page}"' not in editor.open(page).text


class TestCorrecting:
    def test_replaces_the_engines_words_and_is_in_the_audit_log(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor, team: Team
    ) -> None:
        article_id = deliver_translated(service, publisher, "A title of many")
        segments = f"/articles/{article_id}/es/segments"
        assert f'href="/app{segments}"' in editor.open(f"/articles/{article_id}/es").text
        [form] = re.findall(rf'href="/app({segments}/\w+)"', editor.open(segments).text)
        done = editor.submit(form, form, text="Un título")
        assert NOTICES["translation_corrected"] in read_text(done.text)
        assert "corrected" in read_text(done.text)
        wait_until(lambda: "Un título" in read_text(editor.open(f"/articles/{article_id}/es").text))
        [entry, *_] = service.run(list_entries(team.id, 1, None)).rows
        assert (entry.action, entry.subject_id) == ("article.translation_corrected", article_id)
        editor.submit(form, form, text="Un título", takes_back="yes")
        wait_until(lambda: "Un título" not in read_text(editor.open(f"/articles/{article_id}/es").text))

    def test_without_the_marks_of_the_source_keeps_what_was_typed(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher, "A <b>bold</b> title")
        segments = f"/articles/{article_id}/es/segments"
        [form] = re.findall(rf'href="/app({segments}/\w+)"', editor.open(segments).text)
        refused = editor.submit(form, form, text="Un título atrevido")
        assert refused.status_code == 400
        assert REFUSALS["codes_broken"] in read_text(refused.text)
        assert "Un título atrevido" in refused.text
        assert REFUSALS["correction_empty"] in read_text(editor.submit(form, form, text=" ").text)

    def test_shows_ampersands_as_the_site_does(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher, "Fit &amp; fun", content="Rest & run.")
        segments = f"/articles/{article_id}/es/segments"
        pages = [f"/articles/{article_id}", f"/articles/{article_id}/es", segments, "/articles"]
        pages += re.findall(rf'href="/app({segments}/\w+)"', editor.open(segments).text)
        assert len(pages) == 6
        for page in pages:
            assert "&amp;amp;" not in editor.open(page).text
        assert "<h1><bdi>Fit &amp; fun</bdi></h1>" in editor.open(pages[0]).text

    def test_shows_what_was_refused_and_why_until_somebody_corrects_it(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher, "Fit first", content="Then shine.")
        refuse(service, article_id, Fault.NUMBERS, "Then shine.")
        refused = f"/articles/{article_id}/es/segments?show=refused"
        assert refused in editor.open(f"/articles/{article_id}").text
        page = editor.open(refused)
        assert f"It was left in English: {FAULTS[Fault.NUMBERS]}" in read_text(page.text)
        assert "All (2) Refused (1)" in read_text(page.text)
        [form] = re.findall(rf'href="/app(/articles/{article_id}/es/segments/\w+\?show=refused)"', page.text)
        assert FAULTS[Fault.NUMBERS] in editor.open(form).text
        editor.submit(form, form, text="Luego brilla.")
        assert "No segment was refused." in read_text(editor.open(refused).text)

    def test_goes_on_from_one_segment_to_the_next(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        texts = ("Fit first", "Then shine.", "Rest at last.")
        article_id = deliver_translated(service, publisher, texts[0], content="\n\n".join(texts[1:]))
        refuse(service, article_id, Fault.NUMBERS, texts[0], texts[2])
        segments = f"/articles/{article_id}/es/segments"
        link = re.compile(rf'href="/app({segments}/\w+)"')
        first, second, third = link.findall(editor.open(segments).text)
        page = editor.open(first)
        assert "Correct a segment 1 of 3" in read_text(page.text)
        assert f'href="/app{second}">Skip' in page.text
        saved = editor.submit(first, first, text="Uno", goes_on="yes")
        assert saved.url.path == f"/app{second}"
        assert NOTICES["translation_corrected"] in read_text(saved.text)
        assert editor.submit(second, second, text="Dos").url.path == f"/app{segments}"
        assert "Save and go on" not in editor.open(third).text
        wait_until_translated(service, article_id)  # again, with what was corrected
        refuse(service, article_id, Fault.NUMBERS, texts[0], texts[2])
        refused = f"{first}?show=refused"
        assert "Correct a segment 1 of 2 refused" in read_text(editor.open(refused).text)
        saved = editor.submit(refused, refused, text="Otra vez", goes_on="yes")
        assert (saved.url.path, saved.url.query) == (f"/app{third}", b"show=refused")

    def test_goes_on_to_the_next_page_of_what_is_shown(
        self,
        service: RunningService,
        publisher: httpx.Client,
        editor: Visitor,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(corrections, "SEGMENTS_A_PAGE", 1)
        article_id = deliver_translated(service, publisher, "Fit first", content="Then shine.")
        page = editor.open(f"/articles/{article_id}/es/segments")
        assert "segments?from=1" in page.text
        refuse(service, article_id, Fault.NUMBERS, "Fit first", "Then shine.")
        refused = editor.open(f"/articles/{article_id}/es/segments?show=refused")
        assert "segments?show=refused&amp;from=1" in refused.text

    def test_has_words_for_every_fault(self) -> None:
        assert FAULTS.keys() == set(Fault)

    def test_of_a_segment_that_is_gone_is_not_found(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher)
        assert editor.open(f"/articles/{article_id}/es/segments/0").status_code == 404
        assert editor.open(f"/articles/{article_id}/tlh/segments").status_code == 404
        assert "no segments here" in read_text(
            editor.open(f"/articles/{article_id}/es/segments?from=500").text
        )


def refuse(service: RunningService, article_id: str, fault: Fault, *segments: str) -> None:
    async def store_fault() -> None:
        row = await Translation.get(article_id=article_id, locale="es")
        await store_refusals(row.id, dict.fromkeys(map(segment_hash, segments), fault))
        await Translation.filter(id=row.id).update(untranslated_segments=len(segments))

    service.run(store_fault())


def asked_of_the_engine(service: RunningService) -> int:
    return sum(row.requests for row in service.run(list_usage(this_month())))


class TestWithdrawing:
    @pytest.mark.parametrize("act", ["unpublish", "delete"])
    def test_asks_first_and_is_in_the_audit_log(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor, team: Team, act: str
    ) -> None:
        article_id, status = deliver_translated(service, publisher), WITHDRAWN[act]
        page = f"/articles/{article_id}/{act}"
        assert f'href="/app{page}"' in editor.open(f"/articles/{article_id}").text
        done = editor.submit(page, page)
        assert NOTICES[f"article_{status}"] in read_text(done.text)
        assert states(service, article_id) == {}
        assert editor.open(f"/articles/{article_id}").status_code == (404 if act == "delete" else 200)
        [entry, *_] = service.run(list_entries(team.id, 1, None)).rows
        assert (entry.action, entry.subject_id) == (f"article.{status}", article_id)
        assert entry.actor == editor.email

    def test_shows_what_is_unpublished_and_offers_to_delete_it(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher)
        page = f"/articles/{article_id}"
        editor.submit(f"{page}/unpublish", f"{page}/unpublish")
        shown = editor.open(page).text
        assert f"/app{page}/delete" in shown
        assert f"/app{page}/unpublish" not in shown
        assert "There are none while the article is unpublished." in read_text(shown)
        assert '<span class="badge unpublished">' in editor.open("/articles").text

    def test_publishes_again_with_the_text_that_was_kept(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor, team: Team
    ) -> None:
        identity = str(uuid4())
        article_id = deliver_translated(service, publisher, "Kept shoes", id=identity)
        page = f"/articles/{article_id}"
        editor.submit(f"{page}/unpublish", f"{page}/unpublish")
        shown = editor.submit(page, f"{page}/publish")
        assert NOTICES["article_published"] in read_text(shown.text)
        assert f"/app{page}/publish" not in shown.text
        wait_until(lambda: set(states(service, article_id).values()) == {"translated"})
        assert "Kept shoes" in read_text(editor.open(f"{page}/es").text)
        [entry, *_] = service.run(list_entries(team.id, 1, None)).rows
        assert (entry.action, entry.actor) == ("article.published", editor.email)
        sent = {"event": "article.unpublished", "timestamp": "2026-01-01T00:00:00Z"}
        publisher.post(WEBHOOK, json=sent | {"article": {"id": identity}}).raise_for_status()
        assert f"/app{page}/unpublish" in editor.open(page).text  # it was sent before

    def test_publishes_a_draft_in_a_folder_of_its_own(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver(publisher, "A draft of shoes", content="Run.", status="draft")
        page = f"/articles/{article_id}"
        editor.submit(page, f"{page}/publish")
        wait_until(lambda: set(states(service, article_id).values()) == {"translated"})
        shown = read_text(editor.open(page).text)
        assert "Folder in the blog storage a-draft-of-shoes" in shown
        assert "State published Revision 1" in shown

    def test_publishes_nothing_without_words(self, publisher: httpx.Client, editor: Visitor) -> None:
        article_id = deliver(publisher, None, status="draft")
        page = f"/articles/{article_id}"
        refused = editor.submit(page, f"{page}/publish")
        assert refused.status_code == 409
        assert "unpublished" in read_text(editor.open(page).text)


class TestReading:
    def test_puts_each_paragraph_next_to_its_translation(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        content = "# Fit first\n\nA shoe that **fits**.\n\n- Road\n- Trail\n"
        article_id = deliver_translated(service, publisher, content=content, format="markdown")
        page = editor.open(f"/articles/{article_id}/es")
        assert page.text.count('class="pair"') == 3
        assert "<p>A shoe that <strong>fits</strong>.</p>" in page.text
        assert page.text.count('lang="es" dir="ltr"') == 4  # the title too
        assert "This is a demonstration" in read_text(page.text)

    def test_says_that_the_publisher_has_translated_it_itself(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        own = {"es": {"title": "Zapatillas", "content": "Texto"}}
        article_id = deliver_translated(service, publisher, content="Text", translations=own)
        said = "The publisher submitted this translation"
        assert said in read_text(editor.open(f"/articles/{article_id}/es").text)
        assert said not in read_text(editor.open(f"/articles/{article_id}/pt").text)
        assert read_text(editor.open(f"/articles/{article_id}").text).count("the publisher's own") == 1

    def test_disarms_what_publishers_write(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        link = "<a href='javascript:alert(1)'>go</a>"
        content = f"<p onclick=alert(1)>{PAYLOAD}{link}</p><iframe src=//evil.example>"
        article_id = deliver_translated(
            service,
            publisher,
            PAYLOAD,
            slug=PAYLOAD,
            excerpt=PAYLOAD,
            content_html=content,
            content_markdown=f"{PAYLOAD}\n\n![{PAYLOAD}](https://evil.example/y)\n\n[go](javascript:alert(1))",
            images=[{"url": "https://evil.example/z", "alt": PAYLOAD}],
        )
        page = editor.open(f"/articles/{article_id}/pt")
        assert_disarmed(page)
        assert "go" in read_text(page.text)

    def test_never_loads_an_image_but_tells_what_it_shows(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(
            service,
            publisher,
            content_html='<p><img src="https://cdn.example/secret.png" alt="A red shoe"></p>',
        )
        page = editor.open(f"/articles/{article_id}/es").text
        assert "[Image: A red shoe]" in page
        assert "cdn.example" not in page

    def test_tells_that_a_translation_is_of_an_older_revision(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher, "Old title")

        async def revise() -> None:
            article = await Article.get(id=article_id)
            article.revision, article.payload = 2, {"article": {"title": "New title"}}
            await article.save()

        service.run(revise())
        text = read_text(editor.open(f"/articles/{article_id}/es").text)
        assert "This translation is of revision 1. The original is revision 2." in text
        assert "New title" in text

    def test_tells_what_was_left_in_english(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher)
        store(service, article_id, "es", {"article": {"title": "Zapatos"}}, untranslated_segments=3)
        text = read_text(editor.open(f"/articles/{article_id}/es").text)
        assert "Parts left in English: 3." in text
        assert "Zapatos" in text
        assert "demonstration" not in text

    def test_shows_the_original_when_the_storage_is_away(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher, "The original stays")
        with chosen_backends.blog_storage_away(service.settings.data_dir):
            page = editor.open(f"/articles/{article_id}/es")
        assert page.status_code == 200
        assert sentence(service, "service_unavailable") in read_text(page.text)
        assert read_text(page.text).count("The original stays") >= 2

    @pytest.mark.parametrize("content", [b"not JSON", b"[1]", b'{"revision": 1, "delivery": null}'])
    def test_shows_the_original_when_nothing_legible_is_stored(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor, content: bytes
    ) -> None:
        article_id = deliver_translated(service, publisher)

        async def spoil() -> None:
            article = await Article.get(id=article_id)
            storage = service.app.backends.blog_storage
            assert storage
            await storage.put(f"{article.slug}/es.json", content)

        service.run(spoil())
        page = editor.open(f"/articles/{article_id}/es")
        assert page.status_code == 200
        assert "No translation into Spanish is stored yet" in read_text(page.text)

    def test_knows_no_other_locale(self, publisher: httpx.Client, editor: Visitor) -> None:
        article_id = deliver(publisher)
        for locale in ("fr", "en", "..%2Fes"):
            assert editor.open(f"/articles/{article_id}/{locale}").status_code == 404

    def test_cuts_an_article_no_page_can_hold_and_says_so(
        self, service: RunningService, publisher: httpx.Client, editor: Visitor
    ) -> None:
        article_id = deliver_translated(service, publisher, content_html="<p>Words</p>" * 10_000)
        page = editor.open(f"/articles/{article_id}/es")
        assert "Only the beginning is shown" in read_text(page.text)
        assert page.text.count('class="pair"') == 1_000


class TestWithoutAnEngine:
    def test_says_that_translations_wait(self, tmp_path: Any) -> None:
        with running_service(tmp_path, article_teams="Editors", translator="none") as service:
            editors = service.run(create_team("Editors", "free", 10))
            with Visitor(service, editors) as visitor:
                assert "TRANSLATOR is none" in read_text(visitor.open("/articles").text)


class TestTheSearch:
    @pytest.mark.parametrize(
        ("search", "count"), [("ALPINE", 1), ("a-slug-of", 1), ("   alpine ", 1), ("%", 0), ("no such", 0)]
    )
    def test_finds_titles_and_slugs_in_any_case(
        self, editor: Visitor, publisher: httpx.Client, search: str, count: int
    ) -> None:
        title = f"Alpine huts {uuid4()}"
        deliver(publisher, title, slug=f"a-slug-of-{uuid4()}")
        page = editor.get("/articles", params={"search": search})
        assert page.status_code == 200
        assert page.text.count(title) == count

    def test_goes_with_a_state_and_says_when_nothing_fits(self, editor: Visitor) -> None:
        page = read_text(editor.open("/articles?search=no+such+article&status=failed").text)
        assert "No article has this in its title or slug, with a translation in this state." in page


class TestCosts:
    def test_are_what_engines_were_asked(
        self, editor: Visitor, service: RunningService, publisher: httpx.Client
    ) -> None:
        deliver_translated(service, publisher)
        text = read_text(editor.open("/articles/costs").text)
        assert re.search(r"pseudo Spanish [\d,]+ [\d,]+ pseudo Portuguese [\d,]+ [\d,]+", text)
        assert "Budget a month none" in text

    def test_of_another_month_are_of_that_month(self, editor: Visitor) -> None:
        text = read_text(editor.open("/articles/costs?month=2024-01").text)
        assert "Translating in January 2024" in text
        assert "No engine was used." in text
        assert "month=2023-12" in editor.open("/articles/costs?month=2024-01").text

    @pytest.mark.parametrize("month", ["2024-13", "9999-01", "x"])
    def test_of_what_is_no_month_are_this_months(self, editor: Visitor, month: str) -> None:
        this = f"{datetime.now(UTC):%B %Y}"
        assert f"Translating in {this}" in read_text(editor.open(f"/articles/costs?month={month}").text)

    def test_are_for_the_teams_that_see_articles(self, outsider: Visitor) -> None:
        assert outsider.open("/articles/costs").status_code == 404

    def test_tell_the_budget_and_what_waits_for_it(self, tmp_path: Path) -> None:
        settings = {"article_teams": "Editors", "translation_monthly_characters": 3}
        with running_service(tmp_path, **settings) as frugal:
            team = frugal.run(create_team("Editors", "free", 10))
            headers = {"X-Webhook-Secret": WEBHOOK_SECRET}
            with httpx.Client(base_url=frugal.base_url, headers=headers) as publisher:
                deliver(publisher)
            wait_until(lambda: frugal.run(count_waiting_for_budget()) == 2)
            with Visitor(frugal, team, "viewer") as viewer:
                text = read_text(viewer.open("/articles/costs").text)
            assert "2 translations wait for next month's budget." in text
            assert "Budget a month 3 characters Left 3 characters" in text
