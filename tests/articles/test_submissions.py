from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.articles.field_names import (
    EVENTS,
    HIDING_FLAGS,
    OTHER_WORDS,
    PUBLICATION_TIMES,
    PUBLISHING_FIELDS,
    SHOWING_FLAGS,
    STATES,
    TAGS,
    TEST_FLAGS,
    TEXTS,
    TITLES,
)
from monitoring.articles.models import Article, PublicationStatus
from monitoring.articles.plain_words import MAX_FOLDER_CHARACTERS, name_folder
from monitoring.articles.publishing_words import (
    PUBLISHING_WORDS,
    TEST_WORDS,
    is_test_submission,
    read_status,
)
from monitoring.articles.submissions import (
    find_source_time,
    hash_json,
    identify_article,
    read_submission,
    read_tags,
    read_title,
)
from monitoring.articles.times import parse_time
from monitoring.contract.document import published_document

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
PUBLISHED, UNPUBLISHED, DELETED = PublicationStatus


class TestIdentity:
    @pytest.mark.parametrize(
        ("article", "identity"),
        [
            ({"id": "7", "slug": "shoes"}, "id:7"),
            ({"id": 7, "slug": "shoes"}, "id:7"),
            ({"id": 7.0, "slug": "shoes"}, "id:7"),
            ({"id": 9007199254740991.0}, "id:9007199254740991"),
            ({"id": "7.0"}, "id:7.0"),
            ({"id": 0}, "id:0"),
            ({"id": None, "slug": "shoes"}, "slug:shoes"),
            ({"id": "  ", "slug": "shoes"}, "slug:shoes"),
            ({"slug": "7"}, "slug:7"),
        ],
    )
    def test_is_the_id_else_the_slug(self, article: dict[str, Any], identity: str) -> None:
        assert identify_article({"article": article}) == identity

    def test_is_else_the_content_whatever_the_order_of_its_keys(self) -> None:
        there, back = {"title": "Shoes", "content": "Fit"}, {"content": "Fit", "title": "Shoes"}
        changed = {**there, "slug": "", "content": "Fits"}
        assert identify_article({"article": there}) == identify_article({"article": back})
        assert identify_article({"article": there}) != identify_article({"article": changed})

    def test_by_content_is_the_same_whatever_the_status(self) -> None:
        published, draft = (
            {"article": {"title": "Shoes", "status": each}} for each in ("published", "draft")
        )
        assert (
            identify_article(published)
            == identify_article(draft)
            == identify_article({"article": {"title": "Shoes"}})
        )

    @pytest.mark.parametrize("article", [{"id": 7}, {"slug": "shoes"}, {"content": "Fit"}])
    def test_counts_within_the_website(self, article: dict[str, Any]) -> None:
        websites = [None, {"id": 1}, {"id": 2}, {"id": "web_1"}]
        identities = {identify_article({"article": article, "website": website}) for website in websites}
        assert len(identities) == len(websites)

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ({"id": 7}, {"id": "7"}),
            ({"id": 7}, {"id": 7.0}),
            ({"id": "web_1"}, {"id": " web_1 ", "baseUrl": "https://blog.example.com"}),
            (None, {}),
            (None, {"id": None}),
            (None, {"id": " "}),
            (None, {"baseUrl": "https://blog.example.com"}),
        ],
    )
    def test_is_the_same_when_the_website_is(
        self, one: dict[str, Any] | None, other: dict[str, Any] | None
    ) -> None:
        identities = {
            identify_article({"article": {"id": 1}, "website": website}) for website in (one, other)
        }
        assert len(identities) == 1

    def test_cannot_be_that_of_another_website_by_an_id_that_looks_like_two(self) -> None:
        split = {"website": {"id": "1"}, "article": {"id": "2/id:3"}}
        joined = {"website": {"id": "1/id:2"}, "article": {"id": "3"}}
        forged = {"article": {"id": identify_article(split).removeprefix("id:")}}
        assert len({identify_article(payload) for payload in (split, joined, forged)}) == 3

    @given(st.text(max_size=255), st.text(max_size=512))
    def test_fits_its_column(self, website_id: str, slug: str) -> None:
        identity = identify_article({"website": {"id": website_id}, "article": {"slug": slug}})
        assert len(identity) <= Article._meta.fields_map["identity"].max_length  # type: ignore[attr-defined]  # noqa: SLF001


class TestContent:
    def test_is_the_same_when_only_the_submission_differs(self) -> None:
        first = {"event": "publish", "timestamp": "2026-11-20T09:00:00Z", "article": {"id": 1}}
        again = {"article": {"id": 1}, "timestamp": "2026-11-20T10:00:00Z", "event": "update"}
        assert read_submission(first, NOW).content_hash == read_submission(again, NOW).content_hash

    def test_is_the_same_when_only_the_status_differs(self) -> None:
        one = {"article": {"id": 1, "status": "published"}}
        other = {"status": "draft", "article": {"id": 1, "status": "draft"}}
        assert read_submission(one, NOW).content_hash == read_submission(other, NOW).content_hash

    @pytest.mark.parametrize(
        "change", [{"main_image": {}}, {"published_at": "2026"}, {"article": {"id": "1"}}]
    )
    def test_is_another_when_anything_else_differs(self, change: dict[str, Any]) -> None:
        payload = {"article": {"id": 1}}
        assert (
            read_submission(payload, NOW).content_hash != read_submission(payload | change, NOW).content_hash
        )

    @given(st.dictionaries(st.text(), st.integers(0, 2**63) | st.text() | st.none()))
    def test_does_not_depend_on_the_order_of_keys(self, value: dict[str, Any]) -> None:
        assert hash_json(value) == hash_json(dict(reversed(value.items())))


class TestSourceTime:
    @pytest.mark.parametrize(
        ("text", "moment"),
        [
            ("2026-11-20T09:00:00Z", datetime(2026, 11, 20, 9, tzinfo=UTC)),
            ("2026-11-20T09:00:00.5+02:00", datetime(2026, 11, 20, 7, 0, 0, 500_000, tzinfo=UTC)),
            ("2026-11-20 09:00:00", datetime(2026, 11, 20, 9, tzinfo=UTC)),
            ("2026-11-20", datetime(2026, 11, 20, tzinfo=UTC)),
            (" 1795165200 ", datetime(2026, 11, 20, 9, tzinfo=UTC)),
            ("1795165200.25", datetime(2026, 11, 20, 9, 0, 0, 250_000, tzinfo=UTC)),
            ("1795165200500", datetime(2026, 11, 20, 9, 0, 0, 500_000, tzinfo=UTC)),
            ("", None),
            (None, None),
            ("yesterday", None),
            ("Fri, 20 Nov 2026 09:00:00 GMT", datetime(2026, 11, 20, 9, tzinfo=UTC)),
            ("20 Nov 2026 10:00 +0100", datetime(2026, 11, 20, 9, tzinfo=UTC)),
            ("2026-11-20 10:00:00 +0100", datetime(2026, 11, 20, 9, tzinfo=UTC)),
            ("2026-11-20 09:00:00 +0000 UTC", datetime(2026, 11, 20, 9, tzinfo=UTC)),
            ("Fri Nov 20 2026 10:00:00 GMT+0100 (CET)", datetime(2026, 11, 20, 9, tzinfo=UTC)),
            ("November 20, 2026 9:00 AM", datetime(2026, 11, 20, 9, tzinfo=UTC)),
            ("2026/11/20", datetime(2026, 11, 20, tzinfo=UTC)),
            (1795165200, datetime(2026, 11, 20, 9, tzinfo=UTC)),
            (True, None),
            ("11/12/2026", None),
            ("0001-01-01T00:00:00+14:00", None),
            ("\u0662\u0660\u0662\u0666-11-20", None),
        ],
    )
    def test_is_read_however_publishers_write_it(self, text: object, moment: datetime | None) -> None:
        assert parse_time(text) == moment

    @given(st.text())
    def test_of_any_text_is_a_moment_or_nothing(self, text: str) -> None:
        moment = parse_time(text)
        assert moment is None or moment.tzinfo is UTC

    @given(st.datetimes(timezones=st.timezones(), min_value=datetime(1900, 1, 1)))  # noqa: DTZ001
    def test_survives_being_written(self, moment: datetime) -> None:
        if moment.utcoffset() is not None and moment.utcoffset().seconds % 60 == 0:  # type: ignore[union-attr]
            assert parse_time(moment.isoformat()) == moment.astimezone(UTC)

    def test_prefers_the_timestamp_and_takes_the_next_that_can_be_read(self) -> None:
        payload = {
            "timestamp": "2026-03-03",
            "published_at": "2026-02-02",
            "article": {"published_at": "2026-01-01"},
        }
        unreadable = payload | {"timestamp": "soon"}
        alone = {"article": payload["article"]}
        assert find_source_time(payload) == (datetime(2026, 3, 3, tzinfo=UTC), "timestamp")
        assert find_source_time(unreadable) == (datetime(2026, 2, 2, tzinfo=UTC), "published_at")
        assert find_source_time(alone) == (datetime(2026, 1, 1, tzinfo=UTC), "article.published_at")
        assert find_source_time({"article": {}}) == (None, None)

    def test_in_the_future_counts_as_now(self) -> None:
        submission = read_submission({"article": {"id": 1}, "timestamp": "9999-01-01T00:00:00Z"}, NOW)
        assert submission.source_time == NOW


class TestFolder:
    @pytest.mark.parametrize(
        ("text", "slug"),
        [
            ("choose-running-shoes", "choose-running-shoes"),
            ("/blog/2026/Café & Crème!/", "blog-2026-cafe-creme"),
            ("../../etc/passwd", "etc-passwd"),
            ("a\\b..c", "a-b-c"),
            ("靴の選び方", ""),
            ("Trail—road in 1990\u20131999", "trail-road-in-1990-1999"),
            ("Boxes of 12\u00d78 (½ inch)", "boxes-of-12-8-1-2-inch"),
            ("Maße, Ærø & Łąki: naïve señor", "masse-aero-laki-naive-senor"),
            ("Žižkov и Москва, αβγ", "zizkov-i-moskva-avg"),
            ("Don't, won\u2019t & rock \u2019n\u2019 roll", "dont-wont-rock-n-roll"),
            ("Fish &amp; Chips&#8217;s price", "fish-chipss-price"),
            ("Run <b>fast</b>er<br>today", "run-faster-today"),
            ("The <Button> of 靴shoes", "the-button-of-shoes"),
            ("soft\u00adware\u00a0and\u2003co", "software-and-co"),
            ("e\u0301te\u0301", "ete"),
            ("--", ""),
            ("x" * 500, "x" * MAX_FOLDER_CHARACTERS),
        ],
    )
    def test_is_sanitised(self, text: str, slug: str) -> None:
        assert name_folder(text) == slug

    @given(st.text())
    def test_of_any_text_is_one_plain_name(self, text: str) -> None:
        slug = name_folder(text)
        assert re.fullmatch(r"([a-z0-9]+(-[a-z0-9]+)*)?", slug)
        assert len(slug) <= MAX_FOLDER_CHARACTERS
        assert name_folder(slug) == slug

    @pytest.mark.parametrize(
        ("article", "folder"),
        [
            ({"slug": "shoes", "title": "All shoes", "id": 7}, "shoes"),
            ({"slug": "靴", "title": "All shoes", "id": 7}, "all-shoes"),
            ({"title": None, "id": 7}, "7"),
            ({"id": 7.0}, "7"),
            ({"id": 0}, "0"),
            ({"content": "Fit"}, "article"),
        ],
    )
    def test_is_the_slug_else_the_title_else_the_id(self, article: dict[str, Any], folder: str) -> None:
        assert next(read_submission({"article": article}, NOW).folders()) == folder

    def test_that_is_taken_has_substitutes_which_no_other_article_has(self) -> None:
        one, other = (read_submission({"article": {"id": id_, "slug": "shoes"}}, NOW) for id_ in (1, 2))
        assert {"shoes"} == set(one.folders()) & set(other.folders())
        assert re.fullmatch(r"shoes-[0-9a-f]{8}", list(one.folders())[1])


class TestCompletion:
    KEPT: ClassVar = {
        "event": "publish",
        "timestamp": "2026-11-20T09:00:00Z",
        "article": {"id": 1, "title": "Shoes", "content": "Fit first.", "tags": ["run"]},
        "main_image": {"alt": "A shoe"},
    }

    def test_takes_what_a_submission_without_text_does_not_name_from_what_is_kept(self) -> None:
        partial = read_submission({"event": "update", "article": {"id": 1, "title": "Boots"}}, NOW)
        assert partial.completed_by(self.KEPT).payload == {
            "event": "update",
            "article": {"id": 1, "title": "Boots", "content": "Fit first.", "tags": ["run"]},
            "main_image": {"alt": "A shoe"},
        }

    def test_keeps_the_text_and_drops_the_status_that_a_submission_does_not_name(self) -> None:
        kept = {"status": "draft", "article": {"id": 1, "content": "Fit first.", "status": "draft"}}
        partial = read_submission({"article": {"id": 1, "content": None, "content_html": None}}, NOW)
        assert partial.completed_by(kept).payload == {"article": {"id": 1, "content": "Fit first."}}

    def test_of_a_bare_id_has_the_content_that_is_kept(self) -> None:
        completed = read_submission({"event": "update", "article": {"id": 1}}, NOW).completed_by(self.KEPT)
        assert completed.content_hash == read_submission(self.KEPT, NOW).content_hash

    @pytest.mark.parametrize(
        "empty",
        [
            None,
            "",
            " \r\n\t\u00a0\u200b",
            "&nbsp;",
            "<p></p>",
            '<P class="ql-align-center"><br/></P>\n<div>&nbsp;</div>',
            "<!-- wp:paragraph -->\n<p></p>\n<!-- /wp:paragraph -->",
            "<p>&#160;</p>\u200c<p>&#xA0;</p>",
            '<h1></h1><ul class="x"><li></li></ul><p><span style="color: red"><strong></strong></span></p>',
        ],
    )
    def test_takes_what_is_empty_for_what_is_not_named(self, empty: str | None) -> None:
        article = {"title": empty, "content": empty, "content_html": empty, "content_markdown": empty}
        seo = {"title": empty, "og": {"description": empty}}
        payload = {
            "article": {"id": 1, **article, "excerpt": empty, "seo": seo},
            "main_image": {"alt": empty},
        }
        completed = read_submission(payload, NOW).completed_by(self.KEPT)
        assert completed.content_hash == read_submission(self.KEPT, NOW).content_hash
        assert not read_submission(payload, NOW).has_words()

    @pytest.mark.parametrize(
        "text",
        [
            {"content": "", "content_markdown": "."},
            {"content_html": "<p>Fit"},
            {"content_html": '<p><img src="shoe.png"></p>'},
            {"content_html": "<pre></pre>"},
            {"content_html": "<!-- Fit"},
            {"content_markdown": "Fit"},
        ],
    )
    def test_adds_nothing_to_a_submission_with_text(self, text: dict[str, str]) -> None:
        whole = read_submission({"article": {"id": 1, **text}}, NOW)
        assert whole.completed_by(self.KEPT) is whole


class TestTags:
    @pytest.mark.parametrize(
        ("article", "tags"),
        [
            ({"tags": ["run", " run ", "fit"]}, ["run", "fit"]),
            ({"tags": "run, fit,run"}, ["run", "fit"]),
            (
                {"tags": [{"id": 1, "name": "Run", "slug": "r"}, {"label": "Fit"}, {"slug": "x"}]},
                ["Run", "Fit", "x"],
            ),
            ({"tags": {"0": "run", "2": "fit"}}, ["run", "fit"]),
            ({"tags": {"run": True, "fit": {"name": "Fit"}, "old": False}}, ["run", "Fit"]),
            ({"tag_list": ["run"]}, ["run"]),
            ({"tags": [], "tagList": "run, fit"}, ["run", "fit"]),
            ({"tags": [7, None, {}, [], {"name": 7}, "x" * 256]}, []),
            ({"tags": {}}, []),
            ({}, []),
        ],
    )
    def test_are_read_from_texts_lists_maps_and_objects(
        self, article: dict[str, Any], tags: list[str]
    ) -> None:
        assert read_tags({"article": article}) == tags


class TestTitle:
    @pytest.mark.parametrize(
        ("article", "title"),
        [
            ({"title": " Fish &amp; Chips&#8217; <em>best</em> "}, "Fish & Chips\u2019 best"),
            ({"title": "1 < 2 and AT&T's <Button>"}, "1 < 2 and AT&T's <Button>"),
            ({"title": "", "headline": "Fit"}, "Fit"),
            ({"postTitle": "Fit"}, "Fit"),
            ({"headline": 7, "title": None}, None),
            ({"headline": "x" * 1001}, "x" * 1000),
        ],
    )
    def test_is_the_headline_in_plain_words(self, article: dict[str, Any], title: str | None) -> None:
        assert read_title({"article": article}) == title


class TestText:
    LONG = "A shoe that fits beats one that shines."

    @pytest.mark.parametrize(
        "field",
        [
            "content",
            "body",
            "bodyHtml",
            "body_html",
            "contentHTML",
            "post-body",
            "markdown",
            "articleBody",
            "content:encoded",
        ],
    )
    def test_has_many_names(self, field: str) -> None:
        submission = read_submission({"article": {"id": 1, field: self.LONG}}, NOW)
        assert submission.has_words()
        assert submission.find_unread_text() is None
        assert submission.completed_by(TestCompletion.KEPT) is submission

    @pytest.mark.parametrize(
        ("payload", "field"),
        [
            ({"article": {"title": "Fit", "story": LONG}}, "article.story"),
            (
                {"article": {"title": "Fit", "content": "<p></p>", "blocks": [{"data": {"x": LONG}}]}},
                "article.blocks",
            ),
            ({"article": {"title": "Fit", "body": {"children": [{"v": LONG}]}}}, "article.body"),
            ({"article": {"title": "Fit"}, "content": f"<p>{LONG}</p>"}, "content"),
        ],
    )
    def test_that_stands_under_another_name_is_found(self, payload: dict[str, Any], field: str) -> None:
        assert read_submission(payload, NOW).find_unread_text() == field

    @pytest.mark.parametrize(
        "payload",
        [
            {"article": {"title": LONG}},
            {"article": {"title": "Fit", "excerpt": LONG, "seo": {"x": LONG}, "meta_description": LONG}},
            {"article": {"title": "Fit", "cover": "https://a.example/a/b c d e f g".replace(" ", "/")}},
            {"article": {"title": "Fit", "content": "Short.", "author_bio": LONG}},
            {"article": {"title": "Fit"}, "main_image": {"alt": LONG}, "website": {"about": LONG}},
        ],
    )
    def test_is_not_missed_where_there_is_none(self, payload: dict[str, Any]) -> None:
        assert read_submission(payload, NOW).find_unread_text() is None


def submission_with(event: str | None = None, status: str | None = None, **article: Any) -> dict[str, Any]:
    return {"event": event, "status": status, "article": article}


class TestStatus:
    @pytest.mark.parametrize(
        ("event", "status"),
        [
            *((None, PUBLISHED), ("", PUBLISHED)),
            *((word, PUBLISHED) for word in ("publish", "article.published", "post_updated", "POST-CREATED")),
            *(
                (word, PUBLISHED)
                for word in ("post.published.edited", "live", "article.new", "articleRestored")
            ),
            *((word, UNPUBLISHED) for word in ("article.unpublished", "trashed", "untrashed", "auto-draft")),
            *((word, UNPUBLISHED) for word in ("Draft", "post/scheduled", "future", "pending", "private")),
            *((word, DELETED) for word in ("ARTICLE.DELETED", "deletePost", "entry removed")),
        ],
    )
    def test_is_read_from_the_event_however_it_is_written(
        self, event: str | None, status: PublicationStatus
    ) -> None:
        assert read_status(submission_with(event)) is status

    def test_is_read_from_the_payload_and_from_the_article(self) -> None:
        assert read_status(submission_with(status="draft")) is UNPUBLISHED
        assert read_status(submission_with(status="published")) is PUBLISHED
        assert read_status({"article": {"status": "Trash"}}) is UNPUBLISHED

    @pytest.mark.parametrize(
        ("event", "status", "wanted"),
        [
            ("published", "draft", UNPUBLISHED),
            ("unpublished", "published", UNPUBLISHED),
            ("deleted", "published", DELETED),
            ("deleted", "draft", DELETED),
        ],
    )
    def test_takes_most_away_if_words_contradict_each_other(
        self, event: str, status: str, wanted: PublicationStatus
    ) -> None:
        assert read_status(submission_with(event, status)) is wanted


class TestFlags:
    @pytest.mark.parametrize(
        ("fields", "status"),
        [
            *(({"published": no}, UNPUBLISHED) for no in (False, "false", "No", 0, "0", 0.0)),
            *(({"draft": yes}, UNPUBLISHED) for yes in (True, "TRUE", " yes ", 1, "1", 1.0)),
            *(
                ({name: False}, UNPUBLISHED)
                for name in ("isPublished", "publish", "is_public", "live", "Visible")
            ),
            *(
                ({name: True}, UNPUBLISHED)
                for name in ("isDraft", "is_archived", "hidden", "_draft", "unlisted")
            ),
            *(({name: True}, UNPUBLISHED) for name in ("deleted", "isDeleted", "_deleted")),
            *(
                ({"published": told}, PUBLISHED)
                for told in (True, "true", 1, None, "", "2026-11-20T09:00:00Z")
            ),
            *(({"draft": told}, PUBLISHED) for told in (False, "no", 0, None, "")),
            *(({name: "2026-11-20"}, UNPUBLISHED) for name in ("deleted_at", "archivedAt")),
            *(({"deletedAt": told}, PUBLISHED) for told in (None, "")),
            ({"published": True, "draft": True}, UNPUBLISHED),
            ({"published": True, "status": "deleted", "draft": True}, DELETED),
        ],
    )
    def test_stand_in_the_article_or_beside_it(
        self, fields: dict[str, Any], status: PublicationStatus
    ) -> None:
        assert read_status({"article": {"id": 1, **fields}}) is status
        assert read_status({"article": {"id": 1}, **fields}) is status

    @pytest.mark.parametrize(
        ("front_matter", "status"),
        [
            ("---\ntitle: Fit\npublished: false\n---\n", UNPUBLISHED),
            ("---\r\ndraft: true\r\n---\r\n", UNPUBLISHED),
            ("+++\ndraft = true\n+++\n", UNPUBLISHED),
            ("---\nstatus: 'private'\n---\n", UNPUBLISHED),
            ("---\ndraft: false\nstate: California\nnote: draft true\n---\n", PUBLISHED),
            ("---\nstatus: testing\nvisibility: draftsman\n---\n", PUBLISHED),
            ("Not yet:\n\n---\ndraft: true\n---\n", PUBLISHED),
        ],
    )
    def test_stand_in_the_front_matter_of_a_text(self, front_matter: str, status: PublicationStatus) -> None:
        for field in ("content", "body_markdown"):
            payload = {"article": {field: f"{front_matter}\nFit first."}}
            assert read_status(payload) is status
            assert not is_test_submission(payload)

    def test_are_no_part_of_the_content(self) -> None:
        shown, hidden = ({"article": {"content": "Fit", "draft": flag}} for flag in (False, True))
        assert identify_article(shown) == identify_article(hidden)
        assert read_submission(shown, NOW).content_hash == read_submission(hidden, NOW).content_hash
        again = read_submission({"article": {"id": 1}, "published": True}, NOW).completed_by(hidden)
        assert "draft" not in again.payload["article"]


class TestOtherNames:
    @pytest.mark.parametrize(
        ("fields", "status"),
        [
            ({"event_type": "article.deleted"}, UNPUBLISHED),
            ({"eventType": "post_unpublished"}, UNPUBLISHED),
            ({"action": "delete"}, UNPUBLISHED),
            ({"triggerType": "collection_item_deleted"}, UNPUBLISHED),
            ({"topic": "ContentManagement.Entry.unpublish"}, UNPUBLISHED),
            ({"type": "entry.archived"}, UNPUBLISHED),
            ({"type": "private-label goods"}, PUBLISHED),
            ({"topic": "Newsletter"}, PUBLISHED),
            ({"stage": {"name": "draft"}}, PUBLISHED),
            ({"post_status": "private"}, UNPUBLISHED),
            ({"publishStatus": "draft"}, UNPUBLISHED),
            ({"_status": "draft"}, UNPUBLISHED),
            ({"event": "updated", "visibility": "members"}, UNPUBLISHED),
            ({"event": "deleted", "visibility": "public"}, DELETED),
            ({"visibility": "public"}, PUBLISHED),
        ],
    )
    def test_say_the_status_too(self, fields: dict[str, Any], status: PublicationStatus) -> None:
        assert read_status({"article": {"id": 1}, **fields}) is status

    @pytest.mark.parametrize("name", ["state", "postStatus", "visibility", "moderation_state"])
    def test_of_states_stand_in_the_article_too(self, name: str) -> None:
        assert read_status({"article": {name: "draft"}}) is UNPUBLISHED

    def test_of_events_mean_something_else_in_an_article(self) -> None:
        article = {"event": "Delete all shoes", "type": "draft", "action": "delete", "test": True}
        assert read_status({"article": article}) is PUBLISHED
        assert not is_test_submission({"article": article})

    @pytest.mark.parametrize(
        "told", [{"type": "webhook.test"}, {"test": True}, {"isTest": "true"}, {"action": "ping"}]
    )
    def test_tell_a_test(self, told: dict[str, Any]) -> None:
        assert is_test_submission(told)


class TestTestSubmission:
    @pytest.mark.parametrize("event", ["test", "TEST", " Test ", "ping", "article.test"])
    def test_is_told_by_its_event(self, event: str) -> None:
        assert is_test_submission(submission_with(event))

    @pytest.mark.parametrize("event", [None, "publish", "article.updated"])
    def test_is_nothing_else(self, event: str | None) -> None:
        assert not is_test_submission(submission_with(event))


class TestWordsOfTheDocument:
    SCHEMAS = published_document().root["components"]["schemas"]
    PATTERN = re.compile(SCHEMAS["PublisherStatus"]["pattern"])

    @pytest.mark.parametrize("form", ["{}", "article.{}", "POST_{}", "{}Page"])
    def test_allows_every_word_in_every_form(self, form: str) -> None:
        for word in (*TEST_WORDS, *PUBLISHING_WORDS):
            assert self.PATTERN.search(form.format(word)), word
            assert self.PATTERN.search(form.format(word.upper())), word

    def test_hold_the_names_of_others_to_their_form(self) -> None:
        beside, within = (
            self.SCHEMAS[name]["patternProperties"] for name in ("ArticleSubmission", "ArticleContent")
        )
        flags = {*SHOWING_FLAGS, *HIDING_FLAGS} - {
            "published",
            "publish",
            "Published",
            "Publish",
        }
        names = {"PublisherStatus": {*EVENTS, *STATES}, "PublisherFlag": {*flags, *TEST_FLAGS}}
        names_within = {"PublisherStatus": {*STATES}, "PublisherFlag": flags}
        every = PUBLISHING_FIELDS | TEXTS | {*TITLES, *TAGS, *OTHER_WORDS, *PUBLICATION_TIMES}
        for patterns, held in ((beside, names), (within, names_within)):
            for kind, wanted in held.items():
                forms = [
                    re.compile(form) for form, schema in patterns.items() if schema["$ref"].endswith(kind)
                ]
                assert {name for name in every if any(form.search(name) for form in forms)} == wanted

    @pytest.mark.parametrize("event", ["comment.deleted", "published!", "publishing", "latest", "post.liked"])
    def test_allows_no_other_event(self, event: str) -> None:
        assert not self.PATTERN.search(event)
