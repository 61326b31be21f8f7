"""Translates documentation from packages, and compares how its own renderer handles both versions.

Exits with 1 if an engine that changes nothing changes a byte, or if a document that is not listed in
`exceptions.txt` loses its structure. `make corpus` runs this.
"""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import markdown
import pypandoc

from corpus.check import ENGINES, Engine, print_fault, read_exceptions, translate
from corpus.rendered import Rendered, ask_node, first_difference, render
from corpus.texts import FETCHED, Text
from monitoring.articles.translation.content_formats import TextFormat

EXTENSIONS = ["extra", "admonition", "smarty"]  # from its mkdocs.yml, without those that make ids from words
PANDOC = [pypandoc.get_pandoc_path(), "--from=markdown-auto_identifiers", "--to=html", "--columns=10000"]
_CHUNK = re.compile(r"^([ \t]*`{3,})\{(\w+)[^\n]*", re.MULTILINE)  # knitr runs these before pandoc


class Tree(NamedTuple):
    """A folder of documents, and the renderer of the site for which they are written."""

    name: str
    files: str
    engine: Callable[[Sequence[str]], list[Rendered]]
    text_format: TextFormat = TextFormat.MARKDOWN

    def read(self) -> list[Text]:
        """Return the documents in the folder."""
        return [
            Text(self.name, f"{path.parent.name}/{path.name}", path.read_text(), self.text_format)
            for path in sorted(FETCHED.glob(self.files))
        ]


def by_github(sources: Sequence[str]) -> list[Rendered]:
    """Render documents as GitHub does."""
    return [render(source, TextFormat.MARKDOWN) for source in sources]


def by_python_markdown(sources: Sequence[str]) -> list[Rendered]:
    """Render documents as MkDocs does."""
    pages = (markdown.markdown(source, extensions=EXTENSIONS) for source in sources)
    return [render(page, TextFormat.HTML) for page in pages]


def by_pandoc(sources: Sequence[str]) -> list[Rendered]:
    """Render documents as R Markdown does."""
    run = partial(subprocess.run, PANDOC, capture_output=True, check=True, encoding="utf-8")
    knitted = (_CHUNK.sub(r"\1\2", source) for source in sources)
    return [render(run(input=source).stdout, TextFormat.HTML) for source in knitted]


def by_docusaurus(sources: Sequence[str]) -> list[Rendered]:
    """Parse documents as Docusaurus does."""
    return [Rendered(parts, [], [], frozenset()) for parts in ask_node("structure.mjs", sources)]


TREES = (
    Tree("fastify", "node_modules/fastify/docs/**/*.md", by_github),
    Tree("pino", "node_modules/pino/docs/**/*.md", by_github),
    Tree("undici", "node_modules/undici/docs/**/*.md", by_github),
    Tree("Python-Markdown", "markdown-*/docs/**/*.md", by_python_markdown),
    Tree("R vignettes", "vignettes/**/*.Rmd", by_pandoc),
    Tree(
        "typescript-eslint",
        "node_modules/@typescript-eslint/eslint-plugin/docs/**/*.md*",
        by_docusaurus,
        TextFormat.MDX,
    ),
)


def main() -> int:
    """Check every tree, and print the counts."""
    listed = read_exceptions()
    is_good = True
    for tree in TREES:
        texts = tree.read()
        before = tree.engine([text.source for text in texts])
        same = sum(translate(text, Engine("identity", str)) == text.source for text in texts)
        counts = Counter({"documents": len(texts), "identical": same})
        for engine in ENGINES:
            after = tree.engine([translate(text, engine) for text in texts])
            for text, old, new in zip(texts, before, after, strict=True):
                fault = first_difference(old, new)
                counts[f"intact with {engine.name}"] += fault is None
                if fault:
                    is_good &= print_fault(text.name, f"{engine.name}: {fault}", listed)
        is_good &= bool(texts) and same == len(texts)
        print(f"{tree.name}: " + ", ".join(f"{count:,} {what}" for what, count in counts.items()))
    return not is_good


if __name__ == "__main__":
    sys.exit(main())
