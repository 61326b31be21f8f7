from __future__ import annotations

import re
from typing import Any

import pytest

from monitoring.articles.events import PUBLISHING_WORDS, TEST_WORDS, is_test_submission, read_status
from monitoring.articles.models import PublicationStatus
from monitoring.contract.document import published_document

PUBLISHED, UNPUBLISHED, DELETED = PublicationStatus


def told(event: str | None = None, status: str | None = None, **article: Any) -> dict[str, Any]:
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
        assert read_status(told(event)) is status

    def test_is_read_from_the_payload_and_from_the_article(self) -> None:
        assert read_status(told(status="draft")) is UNPUBLISHED
        assert read_status(told(status="published")) is PUBLISHED
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
        assert read_status(told(event, status)) is wanted


class TestTestSubmission:
    @pytest.mark.parametrize("event", ["test", "TEST", " Test ", "ping", "article.test"])
    def test_is_told_by_its_event(self, event: str) -> None:
        assert is_test_submission(told(event))

    @pytest.mark.parametrize("event", [None, "publish", "article.updated"])
    def test_is_nothing_else(self, event: str | None) -> None:
        assert not is_test_submission(told(event))


class TestPattern:
    SUBMISSION = published_document().root["components"]["schemas"]["ArticleSubmission"]
    PATTERN = re.compile(SUBMISSION["properties"]["event"]["pattern"])

    @pytest.mark.parametrize("form", ["{}", "article.{}", "POST_{}", "{}Page"])
    def test_allows_every_word_in_every_form(self, form: str) -> None:
        for word in (*TEST_WORDS, *PUBLISHING_WORDS):
            assert self.PATTERN.search(form.format(word)), word
            assert self.PATTERN.search(form.format(word.upper())), word

    @pytest.mark.parametrize("event", ["comment.deleted", "published!", "publishing", "latest", "post.liked"])
    def test_allows_no_other_event(self, event: str) -> None:
        assert not self.PATTERN.search(event)
