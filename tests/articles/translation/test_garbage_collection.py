"""The garbage collector, which would hold the event loop, rests while an article is read."""

import gc
from collections.abc import Iterator

import pytest

from monitoring.articles.translation.article import SourceArticle, collector_at_rest, read_article

LONG = "- word\n" * 5_000
FEW = 5  # once it is read, and while other threads work; without rest they would be 70 and more


@pytest.fixture
def collections() -> Iterator[list[int]]:
    """Note which generations are collected, one after the other. With Python's threshold, that is often."""
    generations: list[int] = []
    thresholds = gc.get_threshold()
    gc.set_threshold(700)

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            generations.append(info["generation"])

    gc.callbacks.append(note)
    yield generations
    gc.callbacks.remove(note)
    gc.set_threshold(*thresholds)


@pytest.fixture
def source() -> SourceArticle:
    """Read a long article."""
    return read_article({"article": {"content_markdown": LONG}})


@pytest.mark.embedded("nothing is kept anywhere: once is enough")
class TestCollector:
    def test_rests_while_an_article_is_read(self, collections: list[int]) -> None:
        read_article({"article": {"content_markdown": LONG}})
        assert len(collections) <= FEW
        assert gc.isenabled()

    def test_rests_while_translations_are_put_in_place(
        self, source: SourceArticle, collections: list[int]
    ) -> None:
        source.find_unfit({"word": "*mot*"})  # which is read again, to see that the structure stays
        assert len(collections) <= FEW
        assert gc.isenabled()

    def test_works_again_when_the_article_is_read_that_let_it_rest(self) -> None:
        with collector_at_rest():
            with collector_at_rest():
                assert not gc.isenabled()
            assert not gc.isenabled()
        assert gc.isenabled()

    def test_works_again_after_an_error(self) -> None:
        with pytest.raises(ZeroDivisionError), collector_at_rest():
            _ = 1 / 0
        assert gc.isenabled()
