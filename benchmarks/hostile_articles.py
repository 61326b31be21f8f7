"""What a megabyte that was written to hurt costs the translation: reading it, and each locale."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from bench import QUICK
from servers import SERVICE_PYTHON

if TYPE_CHECKING:
    from bench import Bench

MEGABYTE = 1_000_000

# Each is repeated to the size. tests/articles/translation/test_hostile_sizes.py has many more, and smaller.
UNITS = {
    "Markdown list": ("content_markdown", "- a\n"),
    "Markdown nested lists": ("content_markdown", "".join("  " * depth + "- a\n" for depth in range(50))),
    "Markdown table": ("content_markdown", "|a" * 1_000 + "\n" + "|-" * 1_000 + "\n" + "a\n" * 20_000),
    "Markdown footnotes": ("content_markdown", "[^1]: word\n"),
    "HTML nested lists": ("content_html", "<ul><li>word "),
    "HTML table": ("content_html", "<tr><td>word<td>word</tr>"),
}


def measure_hostile_articles(bench: Bench) -> list[str]:
    """Measure each in a process of its own, with an engine that answers at once."""
    size = MEGABYTE // 8 if bench.effort == QUICK else MEGABYTE
    told = []
    for name in UNITS:
        command = [str(SERVICE_PYTHON), __file__, name, str(size)]
        read, locale = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
        told.append(f"{name} {read:.1f} s and {locale:.1f} s")
    return [f"A hostile article of {size:,} bytes, read once and then for each locale: {', '.join(told)}."]


def main() -> None:
    """Print the CPU seconds of reading an article, and of the second locale."""
    from monitoring.articles.translation.article import read_article
    from monitoring.articles.translation.engines.pseudo import Pseudo
    from monitoring.cli.stopping import collect_seldom

    collect_seldom()  # as a worker does
    (field, unit), size = UNITS[sys.argv[1]], int(sys.argv[2])
    clock = [time.process_time()]
    article = read_article({"article": {field: (unit * (size // len(unit) + 1))[:size]}})
    clock.append(time.process_time())
    for target in ("es", "fr"):
        article.translate(engine=Pseudo(), target=target)
        clock.append(time.process_time())
    print(json.dumps([clock[1] - clock[0], clock[3] - clock[2]]))


if __name__ == "__main__":
    main()
