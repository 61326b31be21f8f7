"""What is sure to leave a document's structure as it is needs no reading."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from articles.translation.soups import MARKDOWN_FRAGMENTS
from monitoring.articles.translation import markdown_structure
from monitoring.articles.translation.front_matter import front_matter_length
from monitoring.articles.translation.markdown_source import read_markdown
from monitoring.articles.translation.segments import render, segments_of

BEGINNINGS = (
    "",
    "",
    "- ",
    "1. ",
    "# ",
    "> ",
    "[^1]: ",
    "*[A]: ",
    "    ",
    "| a | ",
    "- [ ] ",
    ": ",
    "::: tip ",
)
WORDS = (
    "word",
    "two words",
    "Words",
    "a (b)",
    "www",
    "http",
    "Łódź, x = y",
    "word;",
    "a + b / c %",
    "x'",
    'x"',
)
ENDINGS = (
    "\n",
    "\n",
    "\n\n",
    "\n---\n",
    "\n===\n",
    "\n|-|\n",
    " |\n|-|-|\n",
    " | b |\n",
    " #\n",
    "  \n",
    "\\\n",
)
lines = st.tuples(*map(st.sampled_from, (BEGINNINGS, WORDS, ENDINGS))).map("".join)
sources = st.lists(lines | st.sampled_from(MARKDOWN_FRAGMENTS), min_size=1, max_size=15).map("".join)
answers = st.sampled_from((*WORDS, *MARKDOWN_FRAGMENTS, "export", "In", "É", "⟦ñ⟧", "5", "www.a"))
texts = answers | st.builds("{} {}".format, answers, answers) | st.text(min_size=1, max_size=5)


@pytest.mark.embedded("nothing is kept anywhere: once is enough")
class TestSureToStay:
    @settings(deadline=None)
    @given(source=sources, chosen=st.lists(texts, min_size=15, max_size=15))
    def test_is_only_what_changes_nothing(self, source: str, chosen: list[str]) -> None:
        template, structure = read_markdown(source)
        segments = segments_of(template)
        translations = dict(zip((segment.text for segment in segments), chosen, strict=False))
        for segment in segments:
            text = translations.get(segment.text, "")
            if not structure.is_sure_to_stay(segment, text):
                translations.pop(segment.text, None)
        body = render(template, translations)[front_matter_length(source) :]
        assert structure.changed_blocks(body) == frozenset()

    @pytest.mark.parametrize(
        ("source", "text", "is_sure"),
        [
            ("- word\n- *a*", "Deux mots, (par exemple)", True),
            ("# word", "¿Palabra?", True),
            ("| word |\n|-|", "⟦ñ⟧", True),
            ("word", "单词", True),
            ("word", "1. mot", False),
            ("word", "mot | mot", False),
            ("word", "mot-mot", False),
            ("word", "import x", False),
            ("word", "mot www.a.example", False),
            ("5. *word*", "mot", False),
            ("word\nwords", "mot", False),
            ("5 words", "mots", False),
            ("&#119;ord", "mot", False),
            ("word\n*[A]: `b", "mot", False),
        ],
    )
    def test_are_words_in_place_of_words(self, source: str, text: str, *, is_sure: bool) -> None:
        template, structure = read_markdown(source)
        assert structure.is_sure_to_stay(segments_of(template)[0], text) is is_sure


@pytest.mark.embedded("nothing is kept anywhere: once is enough")
def test_the_source_itself_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    source = "---\ntitle: Shoes\n---\n[^1]: word\n"
    _, structure = read_markdown(source)
    monkeypatch.delattr(markdown_structure, "parse_blocks")
    assert structure.changed_blocks(source[front_matter_length(source) :]) == frozenset()
