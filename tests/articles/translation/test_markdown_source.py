"""Markdown is translated in place and renders to the same structure."""

# ruff: noqa: RUF001 - Chinese has punctuation of its own

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from articles.translation.engines_of_tests import FunctionEngine, hurtful_engine
from articles.translation.soups import markdown_soup
from articles.translation.structures import markdown_structure
from monitoring.articles.translation.content_formats import TextFormat
from monitoring.articles.translation.documents import read_document
from monitoring.articles.translation.translated_segments import translate_segments


def translated(source: str, engine: FunctionEngine) -> str:
    document = read_document(source, TextFormat.MARKDOWN)
    return document.translated(translate_segments(document.segments(), engine, "en", "es", {}).texts).text


class TestSegments:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("One *two* **three** ~~four~~", ["One <g1>two</g1> <g2>three</g2> <g3>four</g3>"]),
            ("## Title ##", ["Title"]),
            ("One\ntwo\n===", ["One two"]),
            ("One\r\ntwo *three\nfour* five\nsix", ["One two <g1>three four</g1> five six"]),
            ("One\ntwo `x`\n: three\nfour\nfive", ["One two <x1/>", "three", "four five"]),
            ("One\ntwo\n::: tip Three\nfour\n{% x %}", ["One two", "Three", "four"]),
            ("One [two\nthree a=b] {{ c }}\n[four]", ["One [two three a=b] <x1/> <x2/>"]),
            ("![One\ntwo](a.png)", []),
            ("> one\n> two\n> - three\n>   four", ["one two", "three four"]),
            ("one  \ntwo\\\nthree", ["one", "two", "three"]),
            ("Run `x` on <https://a.example>", ["Run <x1/> on <x2/>"]),
            ("A \\*star\\* &amp; more", ["A *star* &amp; more"]),
            ("See ![A shoe](a.png) there", ["See <x1/> there", "A shoe"]),
            ("| One | b\\|c *d* |\n|--|--|\n| two `x\\|y` | 3 |", ["One", "b|c <g1>d</g1>", "two <x1/>"]),
            (
                "[One](x 'Two') [t](y) ![Three](z (\"Four\") )",
                ["<g1>One</g1> <g2>t</g2> <x3/>", "Two", "Three", '"Four"'],
            ),
            ('!!! note inline "One *two*"\n    three', ["One <g1>two</g1>", "three"]),
            (
                "??? tip\n\n:::info[One `x`]{.a}\ntwo\n:::\n\n:::: tip One {#a}\n\n::: a.b",
                ["One <x1/>", "two", "One"],
            ),
            ("```\ncode\n```\n\n    code\n", []),
            (
                "<div>\n<p>one <b>two</b></p>\n</div>\n\nthree <i>four</i>",
                ["one <g1>two</g1>", "three <g1>four</g1>"],
            ),
            ('<div class="notranslate">\n\none\n\n</div>\n\ntwo', ["two"]),
            ("::: tip One\ntwo\n:::", ["One", "two"]),
            ("> [!NOTE]\n> one", ["one"]),
            ("Term\n: meaning", ["Term", "meaning"]),
            ("One[^1]\n\n[^1]: Two words", ["One<x1/>", "Two words"]),
            ("- [ ] one\n- [x] two", ["one", "two"]),
            ("[ref]: https://a.example", []),
            ("See (https://a.example/b_(c)) and https://a.example/it's!", ["See (<x1/>) and <x2/>!"]),
            ("One $x^2 * y$ and $5 or $10 *two*, $a*b$", ["One <x1/> and $5 or $10 <g2>two</g2>, <x3/>"]),
            ("One \\(a_b\\) two \\\\[c\\\\] \\[sic, three\\]", ["One <x1/> two <x2/> [sic, three]"]),
            ("One \\(two words\\) three \\\\(four\nfive\\\\) six \\(", ["One <x1/> three <x2/> six ("]),
            ("One \\(two\n\nthree\\)", ["One (two", "three)"]),
            ("One\n$$a\n*b*$$\ntwo $$c\nd$$ three", ["One", "two <x1/> three"]),
            ("$$\nE\n=\nm\n\n- c\n$$\n\none\n\n\\[\n# a\n\n> b\n\\]\ntwo", ["one", "two"]),
            (
                "> $$\n> a\n>\n> b\n> $$ (eq:1)\n\none $$ two\n\nthree $$ four",
                ["one $$ two", "three $$ four"],
            ),
            ("```\n$$\n```\none\n```\n$$\n```", ["one"]),
            ("One[^a]\n\n[^a]: https://a.example\n[^b]: Two\n\n    three", ["One<x1/>", "Two", "three"]),
            ("One\n\n[^1]:\n    - two\n    - three\n\nfour", ["One", "two", "three", "four"]),
            ("*[HTML]: One *two\n*[W3C]: Three *four", ["One *two", "Three *four"]),
            ("import X from 'x'\nimport {\n  A,\n} from 'y'\n\none", ["one"]),
            ("export const a = {\n  b: 'one',\n\n  c: `two`\n}\n\nimport taxes rise", ["import taxes rise"]),
            ("{/* one\n\ntwo */}\n\nthree {a.map((b) => ({c: 'four'}))} five", ["three <x1/> five"]),
            ("- {one\n\ntwo}\n\n- three", ["{one", "two}", "three"]),
            ("<Tabs items={['one', 'two']}>\nthree\n</Tabs>\n\n<A.B c>four</A.B>", ["three", "four"]),
            ("<ul>\n{all.map(one => <li>{one}</li>)}\n<li>two</li>\n</ul>", ["two"]),
            ("A [two *b*]{.c} *d*{#e} f{g}", ["A <g1>two <g2>b</g2></g1> <g3>d</g3> f<x4/>"]),
            ('[One]({{ a }}/b "c") ![two]({% d %})', ["<g1>One</g1> <g2>two</g2>"]),
            ("[one](a b.md) [two][c.d] [e][] [three] [^f]", ["<g1>one</g1> <g2>two</g2> <x3/> <x4/> <x5/>"]),
            ("One^[two] :a[three]{b=c} :d{e} a:b 5:c[d", ["One<g1>two</g1> <g2>three</g2> <x3/> a:b 5:c[d"]),
            ("::video[One]{#a}\n\n::video{#b}", ["One"]),
            ("One [see @a, p. 2] [-@b] [c@d.example e]", ["One <x1/> <x2/> [<x3/> e]"]),
            ("# One [#a]\n\n[!INCLUDE [two](b.md)]\n\n![[three]]", ["One <x1/>"]),
            ('One <img a="b"c> two <a, b> three', ["One", "two", "three"]),
            ("See \\ref{a} and \\cite[p. 2]{b} and 5 \\\\ \\*", ["See <x1/> and <x2/> and 5 \\ *"]),
            (
                "One\n\\begin{a}\n\\begin{b}\ntwo\n\n\\end{b}\n\\end{a}\nthree \\begin{c}d\\end{c}",
                ["One", "three <x1/>"],
            ),
            ("\\begin{a}\none\n\\end{b}\n\n> \\begin{a}\n\ntwo", ["two"]),
            ("{% raw %}\none\n\n{% endraw %}\ntwo {% raw %}{{ a }} b{% endraw %}", ["two <x1/>"]),
            ("{{< codeblock a >}}\none\n{{< /codeblock >}}\n\n{{< tip >}}\ntwo\n{{< /tip >}}", ["two"]),
            ("{% code %}\none\n\n- {% code %}\n\n{% endcode %}\n\ntwo", ["two"]),
            ("- {% code %}\n\n{% endcode %}\n\none", ["one"]),
            (
                "::: tip a=\"b\" title=\"One\"\ntwo\n:::\n\n:::c d='e' alt-text='Three':::",
                ["One", "two", "Three"],
            ),
            (":::{note} a\n:class: b\n\none\n:::\n\nTwo\n:three: four", ["one", "Two <x1/> four"]),
            ('/// note | One\n    a: b\n\ntwo\n///\n\n=== "Three"', ["One", "two", "Three"]),
            ('--8<-- "a"\none\n\n--8<--\nb\n--8<--\n\n<<< @/c', ["one"]),
            ("> [!note]- One\n> two\n\n> [!TIP]\n> three", ["One", "two", "three"]),
            ("+--+\n| a |\n+--+\n\n+ one", ["one"]),
            ("<A b={`\n\n<c>`} />\n\n<D\n  e={() => (\n    <f>g</f>\n  )}\n>\none\n</D>", ["one"]),
            ("<A b={{c: 'd}'}}>one</A> {it's} <E f=\"two\" g={h}>", ["one"]),
            ("> <A b={\n> c}>\n\n<A b={\n\none", ["&lt;A b={", "one"]),
            ("| One | two\n| three\n\n| four |", ["One", "two", "three", "four"]),
            (":::tabs\n== One\ntwo\n:::\n\n@tab a\nthree", ["== One", "two", "<x1/> a", "three"]),
            ('One :::a b="c d"::: two~\\ref{a} <>three</>', ["One <x1/> two<x2/><x3/>", "three"]),
            ("<A>\n\t<B>\n\t\tOne\n\t\t- two\n\t\t  three\n\t</B>\n</A>", ["One", "two three"]),
            ("- <A>\n    - one\n      two\n  </A>\n\n> <A>\n>   - three\n> </A>", ["one two", "three"]),
            ("<A>\n- one\n- two\n</A>\nthree", ["one", "two", "three"]),
            (
                '<A>\n  <B c="d">\n    ```\n    e\n    ```\n    # One\n      two `f`\n  </B>\n</A>',
                ["One", "two <x1/>"],
            ),
            (
                "<p>One [two](a_b.md) *three*\n<i>four</i></p>",
                ["One <g1>two</g1> <g2>three</g2> <g3>four</g3>"],
            ),
            ('<div>\n<!-- a -->\n*one*\n</div>\n\n<p a="b"c>\n*two*\n</p>', ["*one*", "two"]),
        ],
    )
    def test_words_are_cut_where_sentences_end(self, source: str, expected: list[str]) -> None:
        assert read_document(source, TextFormat.MARKDOWN).segments() == expected

    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    @pytest.mark.parametrize(
        "start",
        [
            "---\nslug: one\n---\n",
            "---\r\nslug: one\r\n...\r\n",
            "---\n---\n",
            "--- toml\ntitle = 'one'\n---\n",
            "+++\nslug = 'one'\n+++\n",
            '{\n  "title": "one",\n\n  "tags": ["}"]\n}\n',
            "```\none\n```\n",
        ],
    )
    def test_front_matter_and_a_first_fence_are_not_for_the_engine(self, mark: str, start: str) -> None:
        source = f"{mark}{start}\ntwo\n\n---\n\nthree"
        assert read_document(source, TextFormat.MARKDOWN).segments() == ["two", "three"]
        assert translated(source, FunctionEngine(str.upper)) == f"{mark}{start}\nTWO\n\n---\n\nTHREE"

    @settings(deadline=None)
    @given(markdown_soup)
    def test_the_template_of_any_text_is_that_text(self, source: str) -> None:
        assert read_document(source, TextFormat.MARKDOWN).translated({}).text == source


class TestTranslated:
    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("one [two](x 'three')\r\n", "ONE [TWO](x 'THREE')\r\n"),
            ("|a \\| `b\\|c`|\n|-|\n|d\\|[e](f)|", "|A \\| `b\\|c`|\n|-|\n|D\\|[E](f)|"),
            ('!!! note "one"\n::: tip two', '!!! note "ONE"\n::: tip TWO'),
            ("see [ref] [ref][]\n\n[ref]: x", "SEE [REF][ref] [REF][ref]\n\n[ref]: x"),
            ("* one\n  two\n+ three", "* ONE TWO\n+ THREE"),
            ("| a | b |\n|:-|-:|\n|  one  | `b` |", "| A | B |\n|:-|-:|\n|  ONE  | `b` |"),
            ("<b>one</b> &nbsp; `b`", "<b>ONE</b> &nbsp; `b`"),
            ("<p>\none *two*\n</p>", "<p>\nONE *TWO*\n</p>"),
            ("__one__ snake_case https://a.example/b_c", "__ONE__ snake_case https://a.example/b_c"),
            ("one \\^two\\^ \\=three\\=", "ONE \\^TWO\\^ \\=THREE\\="),
            ("one \\^two\\^ three^", "ONE ^TWO^ THREE^"),
            ("\\@one two \\@ref(three) \\:four\\:", "\\@one TWO \\@ref(three) \\:FOUR\\:"),
            ("one \\$two\\$ \\{three\\}", "ONE \\$TWO\\$ \\{three\\}"),
            ("one @two-three, @four/five.", "ONE @two-three, @four/five."),
        ],
    )
    def test_only_words_change(self, source: str, expected: str) -> None:
        engine = FunctionEngine(
            lambda segment: re.sub(r"[a-z]+(?![^<]*>)", lambda word: word[0].upper(), segment)
        )
        assert translated(source, engine) == expected

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            ("mot *x* `y` ~z~", "mot &#42;x&#42; &#96;y&#96; &#126;z&#126;"),
            ("mot &lt;b> {x} a_b _c_", "word"),
            ("mot {x} a_b _c_", "mot &#123;x&#125; a_b &#95;c&#95;"),
            ("mot [x](y)", "mot &#91;x](y)"),
            ("# mot", "&#35; mot"),
            ("12. mot", "12&#46; mot"),
        ],
    )
    def test_words_in_html_are_escaped_for_all_readers(self, answer: str, expected: str) -> None:
        assert translated("<A>\nword\n</A>", FunctionEngine(lambda _: answer)) == f"<A>\n{expected}\n</A>"

    def test_attributes_stay_at_their_markup(self) -> None:
        engine = FunctionEngine(lambda _: "<g2>un</g2> <g1>deux</g1>")
        assert translated("[two](x){.a} *one*{.b}", engine) == "*un*{.b} [deux](x){.a}"

    def test_attributes_at_the_end_keep_the_blank_before_them(self) -> None:
        without_blanks = FunctionEngine(lambda segment: segment.replace(" ", ""))
        assert translated("# One two {#a .b}", without_blanks) == "# Onetwo {#a .b}"
        assert translated("One two\n{: .a}", without_blanks) == "Onetwo\n{: .a}"

    def test_a_colon_before_a_letter_begins_no_directive(self) -> None:
        assert translated("Note: one", FunctionEngine(lambda _: "注意:一")) == "注意\\:一"

    def test_a_mention_behind_a_letter_keeps_a_blank(self) -> None:
        assert translated("Ask @one here", FunctionEngine(lambda _: "问<x1/>吧")) == "问 @one 吧"

    def test_brackets_of_words_stay_brackets(self) -> None:
        engine = FunctionEngine(lambda segment: segment.replace("word", "mot"))
        assert translated("word [a, word]", engine) == "mot [a, mot]"
        assert translated("word [a, b]", FunctionEngine(lambda _: "mot [a](http://evil)")) == "word [a, b]"

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            ("# mot", "\\# mot"),
            ("1. mot", "1\\. mot"),
            ("- mot", "\\- mot"),
            ("mot -->", "mot --\\>"),
            ("mot *x* _y_ a_b", "mot \\*x\\* \\_y\\_ a_b"),
            ("mot [x](y)", "mot \\[x](y)"),
            ("mot &amp;copy; &lt;", "word"),
            ("mot &amp;copy;", "mot \\&copy;"),
            ("mot\n\nmot", "mot mot"),
        ],
    )
    def test_words_cannot_become_markup(self, answer: str, expected: str) -> None:
        assert translated("word", FunctionEngine(lambda _: answer)) == expected

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("[a](#the-red-shoe)\n\n# The red *shoe*!", "[un](#le-rouge-soulier)\n\n# Le rouge *soulier*!"),
            (
                "[a](<#the-red-shoe> 'T')\n\nThe red shoe\n===",
                "[un](<#le-rouge-soulier> 'T')\n\nLe rouge soulier\n===",
            ),
            ("[a][r]\n\n[r]: #shoe\n\n## `x`\n\n## Shoe", "[un][r]\n\n[r]: #soulier\n\n## `x`\n\n## Soulier"),
            ("<a href='#shoe'>a</a>\n\n<h2>Shoe</h2>", "<a href='#soulier'>un</a>\n\n<h2>Soulier</h2>"),
            ("[a](#shoe-1)\n\n# Shoe\n\n# shoe", "[un](#soulier-1)\n\n# Soulier\n\n# soulier"),
            ("[a](#Shoe)\n\n# Shoe", "[un](#soulier)\n\n# Soulier"),
            ("[a](#r%C3%B4le)\n\n# Rôle", "[un](#fonction)\n\n# Fonction"),
            ("[a](#shoe)\n\n# Shoe\n\n<b id=shoe>a</b>", "[un](#shoe)\n\n# Soulier\n\n<b id=shoe>un</b>"),
            ("[a](#shoe)\n\n# A {#shoe}\n\n# Shoe", "[un](#shoe)\n\n# Un {#shoe}\n\n# Soulier"),
            ("[a](#nowhere) [a](x#shoe)\n\n# Shoe", "[un](#nowhere) [un](x#shoe)\n\n# Soulier"),
            ("```\n[a](#shoe)\n[b]: #shoe\n```\n\n# Shoe", "```\n[a](#shoe)\n[b]: #shoe\n```\n\n# Soulier"),
        ],
    )
    def test_a_link_within_the_document_follows_its_heading(self, source: str, expected: str) -> None:
        french = {"the": "le", "red": "rouge", "shoe": "soulier", "a": "un", "rôle": "fonction"}

        def in_french(word: re.Match[str]) -> str:
            translation = french.get(word[0].lower(), word[0])
            return translation.capitalize() if word[0][0].isupper() else translation

        engine = FunctionEngine(
            lambda segment: re.sub(r"[a-zô]+(?![^<]*>)", in_french, segment, flags=re.IGNORECASE)
        )
        assert translated(source, engine) == expected

    def test_words_cannot_end_an_alternative_text(self) -> None:
        engine = FunctionEngine(lambda _: "mot ](y) [z")
        assert translated("![word](x)", engine) == "![mot \\](y) \\[z](x)"

    @pytest.mark.parametrize(
        ("source", "expected"),
        [
            ("[5](x 'word')", "[5](x 'mot\\' \\\"x\\\" \\(y\\) \\|')"),
            ("[5](x (word))", '[5](x (mot\\\' \\"x\\" \\(y\\) \\|))'),
            ('!!! note "word"', '!!! note "mot\' &quot;x&quot; (y) \\|"'),
        ],
    )
    def test_words_cannot_end_a_title(self, source: str, expected: str) -> None:
        assert translated(source, FunctionEngine(lambda _: 'mot\' "x" (y) |')) == expected

    @pytest.mark.parametrize(
        ("answer", "expected"),
        [
            ("请看<x1/>。谢谢", "请看 https://a.example/b 。谢谢"),
            ("请看「<x1/>」", "请看「 https://a.example/b 」"),
            ("<x1/>, mot", "https://a.example/b, mot"),
            ("mot (<x1/>).", "mot (https://a.example/b)."),
            ("mot<x1/>mot", "mot https://a.example/b mot"),
            ("mot <x1/>, http://evil.example", "See https://a.example/b"),
        ],
    )
    def test_a_bare_url_links_to_what_it_did(self, answer: str, expected: str) -> None:
        assert translated("See https://a.example/b", FunctionEngine(lambda _: answer)) == expected

    def test_a_bare_mail_address_takes_no_letters_in(self) -> None:
        engine = FunctionEngine(lambda _: "a<x1/>mot")
        assert translated("mail b@a.example", engine) == "a b@a.example mot"

    def test_a_word_between_brackets_does_not_become_a_formula(self) -> None:
        engine = FunctionEngine(lambda segment: segment.replace("word", "mot"))
        assert translated("word \\[a+b]", engine) == "mot \\[a+b]"
        assert translated("word $5", FunctionEngine(lambda _: "$5+$ mot")) == "word $5"

    def test_words_in_an_html_block_are_escaped_as_html(self) -> None:
        engine = FunctionEngine(lambda _: "mot * &lt; &amp;copy;")
        assert translated("<p>\none &lt;\n</p>", engine) == "<p>\nmot &#42; &lt; &amp;copy;\n</p>"

    def test_a_paragraph_whose_emphasis_would_break_stays_as_it_was(self) -> None:
        engine = FunctionEngine(lambda segment: segment.replace("two", "\u00a0deux").replace("one", "un"))
        assert translated("one**two**one\n\none", engine) == "one**two**one\n\nun"

    @pytest.mark.parametrize(
        ("source", "answer", "expected"),
        [
            ("*Note:* do go", "<g1>注意：</g1>请去", "*注意：* 请去"),
            ("a **word** b", "甲<g1>「词」</g1>，乙", "甲 **「词」**，乙"),
            ("a _word_ b", "甲<g1>词</g1>乙", "甲 _词_ 乙"),
            ("a **word** *b* c", "<g1>词</g1><g2>乙</g2>丙", "**词** *乙*丙"),
            ("a ***word*** b", "甲<g1><g2>词。</g2></g1>乙", "甲***词。*** 乙"),
            ("a **_word_** b", "甲<g1><g2>词</g2></g1>乙", "甲 **_词_** 乙"),
            ("a **€5** ~~b~~ c", "甲<x1/>丁<g2>（乙）</g2>丙", "甲 **€5**丁 ~~（乙）~~ 丙"),
            (
                "**Important:** you **may not** go",
                "<g1>重要:</g1>你<g2>不可以</g2>去",
                "**重要:** 你**不可以**去",
            ),
        ],
    )
    def test_emphasis_gets_a_blank_where_it_needs_one(self, source: str, answer: str, expected: str) -> None:
        assert translated(source, FunctionEngine(lambda _: answer)) == expected

    @pytest.mark.parametrize(
        ("source", "answer", "expected"),
        [
            ("5[^1]\n\n[^1]: See there", "那里", "5[^1]\n\n[^1]: 那里"),
            ("5[^1]\n\n[^1]: Ibid.", "Ibídem. 'y'", "5[^1]\n\n[^1]: Ibídem. 'y'"),
            ("[5][^1]\n\n[^1]: /a 'word'", "mot'", "[5][^1]\n\n[^1]: /a 'word'"),
        ],
    )
    def test_a_footnote_is_no_definition_of_a_link(self, source: str, answer: str, expected: str) -> None:
        assert translated(source, FunctionEngine(lambda _: answer)) == expected

    def test_tildes_of_words_do_not_strike_each_other_out(self) -> None:
        engine = FunctionEngine(lambda segment: segment.replace(" ", "").replace("about", "约"))
        assert translated("about ~2 or ~3 ~old~", engine) == "约\\~2or\\~3~old~"

    @settings(deadline=None)
    @given(source=markdown_soup, seed=st.integers(0, 1_000))
    def test_no_answer_changes_the_rendered_structure(self, source: str, seed: int) -> None:
        result = translated(source, hurtful_engine(seed))
        assert markdown_structure(result) == markdown_structure(source)
        result.encode()
