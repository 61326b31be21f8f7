"""Random documents of all kinds of text that could confuse a scanner."""

from hypothesis import strategies as st

HTML_FRAGMENTS = (
    "<p>", "</p>", "<b>", "</b>", "<i class='x'>", "</i>", '<a href="/x?a=1&amp;b=2" title="Go">',
    "</a>", "<br>", "<br/>", '<img src=a alt="A red shoe">', "<img alt='It&apos;s'>", "<code>",
    "</code>", "<pre>", "</pre>", "<div", " data-x='{\"a\": 1}'>", "<!-- a comment", "-->",
    "<!DOCTYPE html>", "<script>", "</script>", "<!--", "<title>", "</title>", "<my-card>", "</my-card>",
    "<span translate=no>", "</span>", "<td>", "<", ">", "&", "&nbsp;", "&lt;", "&copy;", '"', "'",
    "=", "/", "]]>", "<![CDATA[", "<?php", "?>", "</", "{{ user.name }}", "%s",
    "https://example.com/?a=b", "mail@example.com", "word", " two words ", "\n", "  ", "5", "Łódź", "\ufeff",
)  # fmt: skip
html_soup = st.lists(st.sampled_from(HTML_FRAGMENTS) | st.text(max_size=5), min_size=12, max_size=40).map(
    "".join
)

MARKDOWN_FRAGMENTS = (
    "# ", "## Title ##", "\n", "\n\n", "- ", "* ", "1. ", "> ", "    ", "\t", "```", "~~~", "`",
    "``", "*", "**", "_", "__", "~~", "[", "]", "](", "(", ")", '[text](https://a.example/b_c "T")',
    "[ref]", "[ref][]", "[words][ref]", "![alt](a.png)", "![ref]", "[ref]: https://a.example 'T'\n",
    "<b>", "</b>", "<div>", "</div>", "<!--", "-->", "<https://a.example>",
    "| a | b |\n|---|---|\n", "| red shoe | `x` |", "|", "---\n", "===\n", "\\", "\\*", "&amp;",
    "&nbsp;", "  \n", "\\\n", "!", "::: tip\n", ":::\n", "[^1]", "[^1]: ", "{{ x }}", "word",
    "# word\n", "[go](#word)", "[go]: #word 'Go'\n", "<a href=#word>", "<h2>word</h2>\n",
    " https://a.example/b ", "www.a.example", '!!! note "Title"\n', "| a\\|b |", '![alt](a.png "word")',
    "$", "$$\n", "$x_1$", "\\(", "\\)", "\\[\n", "\\]", "    - one\n", "*[HTML]: ", "import x from 'y'\n",
    "{", "}",     "<X y={1}>", "[^1]:\n    - one\n\n    two\n",
    "[words]{.a}", "[two words]({{ x }}/b)", "[words][a.b]", "^[", ":abbr[", "::video[words]{#b}", "[@word]",
    "{% highlight js %}\n", "{% endhighlight %}\n", "\\begin{a}\n", "\\end{a}\n", "\\ref{word}", "{.a}",
    "/// note | Title\n", "///\n", "    a: word\n", '--8<-- "word"\n', "--8<--\n", "<Card a={`\n", "`} />\n",
    "<Aside>\n", "</Aside>\n", "> [!note]- ", "[!INCLUDE [word](a.md)]", ':::image a="word" alt="word":::\n',
    '<div title="word">\n', "+--+\n", "::: {note}\n", ":a: word\n",
    " two words ", "5", "\r\n", "Łódź", "¿", "<code>", "</code>", "\ufeff",
)  # fmt: skip
markdown_soup = st.lists(
    st.sampled_from(MARKDOWN_FRAGMENTS) | st.text(max_size=4), min_size=10, max_size=30
).map("".join)
