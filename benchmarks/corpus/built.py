"""Builds sites with Hugo, Eleventy and Astro, and compares pages of sources and translations.

Exits with 1 if a generator fails or omits a page. Also exits with 1 if a translated page has other tags,
links or code than its source and is not listed in `exceptions.txt`. `make corpus` runs this with the sites of
the tests.
"""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpus.check import ENGINES, print_fault, read_exceptions, translate
from corpus.rendered import first_difference, render
from corpus.texts import FETCHED, ROOT, Text, read_texts
from monitoring.articles.exports import EXPORTS
from monitoring.articles.translation.content_formats import TextFormat

GROUPS = ("READMEs", "dialects")
LOCALES = ("en", "es")
SITES = ROOT / "tests/articles/exports/sites"
GENERATORS = {
    "hugo": ("public/{locale}/articles/{slug}/index.html", ["hugo", "--quiet"]),
    "eleventy": (
        "public/{locale}/{slug}/index.html",
        [str(SITES / "eleventy/node_modules/.bin/eleventy"), "--quiet", "--output=public"],
    ),
    "astro": (
        "public/{locale}/{slug}/index.html",
        [str(SITES / "astro/node_modules/.bin/astro"), "build", "--silent"],
    ),
}
# On a busy machine, Astro 5 omits pages: it loses what it stores while it is still writing earlier data
# (withastro/astro#15453). Another build reads the previous build's data store, and adds what is missing.
MOST_BUILDS = 3
_BLOCK = re.compile(r"^```\w+\n(?:#|//) (\S+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_DIFFERS = re.compile(r' (?:id|lang)="[^"]*"')  # the ids of headings are derived from their words


def main() -> int:
    """Build every site, and print the counts."""
    texts = [text for text in read_texts() if text.group in GROUPS]
    translations = [translate(text, ENGINES[0]) for text in texts]
    listed = read_exceptions()
    is_good = True
    for generator in GENERATORS:
        site = _build(generator, texts, translations)
        counts: Counter[str] = Counter()
        for number, text in enumerate(texts):
            fault = _find_fault(generator, site, number)
            counts[f"{text.group} intact" if fault is None else f"{text.group} changed"] += 1
            if fault:
                is_good &= print_fault(f"{generator} {text.name}", fault, listed)
        print(f"{generator}: " + ", ".join(f"{count:,} {what}" for what, count in counts.items()))
    return not is_good


def _build(generator: str, texts: Sequence[Text], translations: Sequence[str]) -> Path:
    folder = FETCHED / "sites" / generator
    shutil.rmtree(folder, ignore_errors=True)
    blog, site, export = folder / "blog", folder / "site", EXPORTS[generator]
    for number, (text, translation) in enumerate(zip(texts, translations, strict=True)):
        (blog / _slug(number)).mkdir(parents=True)
        for locale, content in zip(LOCALES, (text.source, translation), strict=True):
            page = _make_page(_slug(number), locale, content)
            (blog / _slug(number) / export.name_file(locale)).write_text(export.write_file(page))
    shutil.copytree(SITES / generator, site, ignore=shutil.ignore_patterns("node_modules"))
    for path, configuration in _BLOCK.findall((ROOT / "docs/blog-storage.md").read_text()):
        (site / path).parent.mkdir(exist_ok=True)
        (site / path).write_text(configuration.replace("/var/lib/monitoring/blog", str(blog)))
    if generator == "astro":
        (site / "node_modules").symlink_to(SITES / "astro/node_modules")
    if generator == "eleventy":
        (site / "blog/articles").symlink_to(blog)
    environment = os.environ | {"ASTRO_TELEMETRY_DISABLED": "1"}
    pattern, command = GENERATORS[generator]
    for _ in range(MOST_BUILDS):
        subprocess.run(command, cwd=site, env=environment, check=True)
        if all(path.exists() for number in range(len(texts)) for path in _find_pages(site, pattern, number)):
            break
        print(f"{generator}: left out pages")
    return site


def _make_page(slug: str, locale: str, content: str) -> dict[str, Any]:
    moment = "2026-11-20T09:00:00.000000Z"
    return {
        "article_id": slug,
        "slug": slug,
        "locale": locale,
        "revision": 1,
        "received_at": moment,
        "translated_at": moment,
        "is_demonstration": False,
        "delivery": {"article": {"title": slug, "content_markdown": content}},
    }


def _find_fault(generator: str, site: Path, number: int) -> str | None:
    pattern, _ = GENERATORS[generator]
    paths = _find_pages(site, pattern, number)
    if missing := [path.parent.relative_to(site) for path in paths if not path.exists()]:
        return f"{missing[0]} is missing"
    before, after = (render(_DIFFERS.sub("", path.read_text()), TextFormat.HTML) for path in paths)
    return first_difference(before, after)


def _find_pages(site: Path, pattern: str, number: int) -> list[Path]:
    return [site / pattern.format(locale=locale, slug=_slug(number)) for locale in LOCALES]


def _slug(number: int) -> str:
    return f"document-{number}"


if __name__ == "__main__":
    sys.exit(main())
