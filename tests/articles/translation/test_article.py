"""Only those parts of a publisher's payload that readers see are translated."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from articles.translation.engines_of_tests import FunctionEngine, translate_article
from articles.translation.soups import html_soup, markdown_soup
from monitoring.articles.translation.article import read_article, texts_for_readers
from monitoring.articles.translation.content_formats import TextFormat, content_format
from monitoring.articles.translation.engines.pseudo import Pseudo
from monitoring.articles.translation.judgement import Fault
from monitoring.articles.translation.memory_budget import TooMuchMarkupError

PAYLOAD: dict[str, Any] = {
    "timestamp": "2026-01-02T03:04:05Z",
    "article": {
        "id": "art one",
        "slug": "the-red-shoe",
        "title": "the red shoe",
        "format": "html",
        "content": "<p>one</p>",
        "content_markdown": "# two",
        "excerpt": "three\n\nfour",
        "keyword": "red shoe",
        "tags": ["red shoe"],
        "meta_description": "five",
        "seo": {
            "title": "six",
            "ogTitle": "seven",
            "canonical": "https://a.example/red shoe",
            "og": {"title": "eight"},
        },
        "images": [{"url": "https://a.example/red.png", "alt": "nine"}, "red.png"],
        "main_image": None,
        "unknown": {"title": "the red shoe"},
    },
    "main_image": {"url": "red.png", "alt": "ten"},
    "website": {"id": "w", "baseUrl": "https://a.example", "title": "the red shoe"},
}


class TestTranslateArticle:
    def test_what_readers_read_is_translated_and_nothing_else(self) -> None:
        article = translate_article(PAYLOAD, engine=FunctionEngine(str.upper), target="es").payload
        assert article == {
            **PAYLOAD,
            "article": {
                **PAYLOAD["article"],
                "title": "THE RED SHOE",
                "content": "<p>ONE</p>",
                "content_markdown": "# TWO",
                "excerpt": "THREE\n\nFOUR",
                "meta_description": "FIVE",
                "seo": {
                    **PAYLOAD["article"]["seo"],
                    "title": "SIX",
                    "ogTitle": "SEVEN",
                    "og": {"title": "EIGHT"},
                },
                "images": [{"url": "https://a.example/red.png", "alt": "NINE"}, "red.png"],
            },
            "main_image": {"url": "red.png", "alt": "TEN"},
        }
        assert list(article) == list(PAYLOAD)
        assert list(article["article"]) == list(PAYLOAD["article"])

    def test_an_edited_article_asks_only_for_what_changed(self) -> None:
        learned = translate_article(PAYLOAD, engine=FunctionEngine(str.upper), target="es").learned
        assert set(learned) == set(read_article(PAYLOAD).hashes.values())
        edited = {**PAYLOAD, "main_image": {"alt": "a blue shoe"}}
        engine = FunctionEngine(str.upper)
        translate_article(edited, engine=engine, target="es", known=learned)
        assert engine.asked == ["a blue shoe"]

    def test_brand_names_come_back_as_they_were(self) -> None:
        payload = {"article": {"title": "buy Acme now"}}
        translated = translate_article(
            payload,
            engine=FunctionEngine(lambda text: text.replace("buy", "compra")),
            target="es",
            brand_names=["Acme"],
        )
        assert translated.payload == {"article": {"title": "compra Acme now"}}

    def test_a_title_cannot_become_markup(self) -> None:
        payload = {"article": {"title": "Fish &amp; chips", "excerpt": "word"}}
        engine = FunctionEngine(lambda segment: f"{segment} &lt;b&gt;")
        assert translate_article(payload, engine=engine, target="es").payload == payload

    def test_an_answer_that_makes_the_text_too_dear_to_read_again_is_refused(self) -> None:
        source = read_article({"article": {"content_markdown": "a word"}})
        backticks = "`" * 400_000
        with pytest.raises(TooMuchMarkupError):
            source.translate(engine=FunctionEngine(lambda _: f"le mot {backticks}"), target="fr")
        assert source.find_unfit({"a word": f"le mot {backticks}"}) == {"a word"}

    def test_what_would_change_the_structure_stays_as_it_was_and_counts(self) -> None:
        content = "# word\n\na **word** here\n\na *word* here"
        payload = {"article": {"title": "word", "content_markdown": content}}
        hashes = read_article(payload).hashes
        corrections = {hashes["a <g1>word</g1> here"]: "un <g1> mot</g1>", hashes["word"]: "le mot"}
        translated = translate_article(
            payload,
            engine=FunctionEngine(lambda segment: segment.replace("<g1>", "<g1> ")),
            target="fr",
            corrections=corrections,
        )
        assert translated.payload == {
            "article": {"title": "le mot", "content_markdown": "# le mot" + content[6:]}
        }
        assert (translated.segment_count, translated.refused_count, translated.corrected_count) == (2, 1, 1)
        assert translated.faults == {Fault.MARKUP: 1}

    def test_a_block_that_would_change_the_others_stays_alone_as_it_was(self) -> None:
        paragraphs = [f"one word of {number}" for number in "abcdefghijklmn"]
        payload = {"article": {"content_markdown": "\n\n".join([*paragraphs, "[a]: the last word"])}}
        engine = FunctionEngine(lambda segment: segment.replace("one", "un").replace("the last word", "fin"))
        translated = translate_article(payload, engine=engine, target="fr")
        expected = "\n\n".join([*(text.replace("one", "un") for text in paragraphs), "[a]: the last word"])
        assert translated.payload == {"article": {"content_markdown": expected}}
        assert translated.refused_count == 1

    def test_pseudo_text_says_that_it_is_a_demonstration(self) -> None:
        payload = {"article": {"title": "Hello"}}
        translated = translate_article(payload, engine=Pseudo(), target="es")
        assert translated.payload == {"article": {"title": "⟦Ĥéļļö⟧"}}
        assert translated.is_demonstration

    @settings(deadline=None)
    @given(title=st.text(), content=markdown_soup, content_html=html_soup)
    def test_an_engine_that_changes_nothing_gives_the_payload_back(
        self, title: str, content: str, content_html: str
    ) -> None:
        payload = {"article": {"title": title, "content": content, "content_html": content_html}}
        assert translate_article(payload, engine=FunctionEngine(str), target="es").payload == payload

    @pytest.mark.parametrize(
        "payload", [{}, {"article": None}, {"article": {"images": {}, "title": 5, "content": []}}]
    )
    def test_other_shapes_pass_through(self, payload: dict[str, Any]) -> None:
        assert translate_article(payload, engine=FunctionEngine(str.upper), target="es").payload == payload


class TestLanguageOfElements:
    @pytest.mark.parametrize(
        ("text_format", "source", "expected"),
        [
            ("html", '<p lang="en">one</p>', '<p lang="pt-BR">ONE</p>'),
            (
                "html",
                "<div xml:lang='en-US' lang=en-GB>one</div>",
                "<div xml:lang='pt-BR' lang=pt-BR>ONE</div>",
            ),
            ("html", '<p>one <i LANG="EN">two</i></p>', '<p>ONE <i LANG="pt-BR">TWO</i></p>'),
            ("html", '<p lang="fr">un</p><p lang="">one</p>', '<p lang="fr">un</p><p lang="">ONE</p>'),
            (
                "html",
                '<p lang="en" translate="no">one</p><p>two</p>',
                '<p lang="en" translate="no">one</p><p>TWO</p>',
            ),
            ("html", '<a hreflang="en" href="#x">one</a>', '<a hreflang="en" href="#x">ONE</a>'),
            ("markdown", 'one <span lang="en">two</span>\n', 'ONE <span lang="pt-BR">TWO</span>\n'),
            (
                "markdown",
                '<p lang="en">\n\none **two**\n\n</p>\n',
                '<p lang="pt-BR">\n\nONE **TWO**\n\n</p>\n',
            ),
        ],
    )
    def test_is_that_of_the_translation(self, text_format: str, source: str, expected: str) -> None:
        payload = {"article": {"format": text_format, "content": source}}
        translated = translate_article(payload, engine=FunctionEngine(shouted), target="pt-BR").payload
        assert translated["article"]["content"] == expected


class TestFencedArticle:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("```markdown\n# one\n\ntwo\n```\n", "# ONE\n\nTWO"),
            ("~~~~ MD\none\n~~~~", "ONE"),
            ("```md\none\n\n```sh\nls\n```\n\ntwo\n```", "ONE\n\n```sh\nls\n```\n\nTWO"),
            ("```html\n<p>one</p>\n```", "<p>ONE</p>"),
            ("```sh\nls one\n```\n", "```sh\nls one\n```\n"),
            ("```\none\n```\n", "```\none\n```\n"),
            (
                "```markdown\none\n```\n\ntwo\n\n```md\nthree\n```",
                "```markdown\none\n```\n\nTWO\n\n```md\nthree\n```",
            ),
        ],
    )
    def test_is_read_without_the_fence_around_all_of_it(self, source: str, expected: str) -> None:
        payload = {"article": {"title": "one", "content": source}}
        translated = translate_article(payload, engine=FunctionEngine(shouted), target="es").payload
        assert translated["article"]["content"] == expected


def shouted(segment: str) -> str:
    return re.sub(r"[^<>]+(?=<|$)", lambda words: words[0].upper(), segment)


class TestContentFormat:
    @pytest.mark.parametrize(
        ("name", "content", "expected"),
        [
            ("html", "# word", TextFormat.HTML),
            (" Markdown ", "<p>word</p>", TextFormat.MARKDOWN),
            (None, " <p>word</p>\n", TextFormat.HTML),
            (None, "word<p>word</p> word", TextFormat.HTML),
            (None, "# word\n\n<p>word</p> word", TextFormat.MARKDOWN),
            (5, "word", TextFormat.MARKDOWN),
            ("Hugo", "<p>word</p>", TextFormat.MARKDOWN),
            ("mdx", "word", TextFormat.MDX),
            ("richtext", "<p>word</p>", TextFormat.HTML),
            ("html", "word\n\nword", TextFormat.MARKDOWN),
            ("html", "<p>word</p>\n\n# word", TextFormat.MARKDOWN),
            ("html", "word\n\nword <b>word</b>\n\n- word", TextFormat.MARKDOWN),
            ("html", "word\n\nword <b>word</b>", TextFormat.HTML),
            ("html", "<div>\n\n# word\n\n</div>", TextFormat.HTML),
        ],
    )
    def test_the_declared_format_wins_over_looks(
        self, name: object, content: str, expected: TextFormat
    ) -> None:
        assert content_format(name, content) is expected

    @pytest.mark.parametrize(
        "content",
        [
            "<h2>word</h2>\n\n<p>word *word*</p>\n",
            "<!-- wp:code --><pre><code># word\n\n- word</code></pre><!-- /wp:code -->\n\n<p>word</p>",
            "word <b>word</b><br>word\n<ul>\n  <li>word</li>\n</ul>",
            "<p>word\n<p>word\n\n<p>word</p>",
            "<style>\n\n# a { }\n</style>\n\n<div>word</div>",
            "<b>word</b>",
            "<Div>word</Div>",
            "<P>word</P><Table><TR><TD>word</TABLE>",
        ],
    )
    def test_words_in_blocks_are_html(self, content: str) -> None:
        assert content_format(None, content) is TextFormat.HTML

    @pytest.mark.parametrize(
        "content",
        [
            "<h1 align=center>word</h1>\n\nword\n\n<p>word</p>",
            "<p>word</p>\n- word\n<p>word</p>",
            "<details>\n<summary>word</summary>\n\n```\nword\n```\n\n</details>",
            "<img src=a>\n\nword `word`\n\n<div>word</div>",
            "<div>\n\n[word](word)\n\n</div>",
            "<b>word</b>\n\n* word <i>word</i>",
            "<Card title='word'>\n  - word\n</Card>",
            "<blockquote>\n\n**word** word\n\n</blockquote>",
            "word <b>word</b> word",
        ],
    )
    def test_words_beside_blocks_are_markdown(self, content: str) -> None:
        assert content_format(None, content) is TextFormat.MARKDOWN

    def test_four_blanks_are_no_code_in_mdx(self) -> None:
        article = {"content": "<A>\n\n    word\n\n</A>", "format": "mdx"}
        engine = FunctionEngine(str.upper)
        translated = translate_article({"article": article}, engine=engine, target="es").payload
        assert translated["article"]["content"] == "<A>\n\n    WORD\n\n</A>"


class TestTextsForReaders:
    def test_are_the_fields_that_translating_changes(self) -> None:
        translated = translate_article(PAYLOAD, engine=FunctionEngine(str.upper), target="es").payload
        changed = {path for path, text in leaves_of(translated) if (path, text) not in leaves_of(PAYLOAD)}
        assert texts_for_readers(PAYLOAD).keys() == changed

    def test_come_with_their_formats(self) -> None:
        found = texts_for_readers(PAYLOAD)
        assert found["article", "content"] == (TextFormat.HTML, "<p>one</p>")
        assert found["article", "content_markdown"] == (TextFormat.MARKDOWN, "# two")
        assert found["article", "images", 0, "alt"] == (TextFormat.PLAIN, "nine")


def leaves_of(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    """List every value that is neither object nor array, with its path."""
    if not isinstance(value, dict | list):
        return [(path, value)]
    members = value.items() if isinstance(value, dict) else enumerate(value)
    return [leaf for name, member in members for leaf in leaves_of(member, (*path, name))]
