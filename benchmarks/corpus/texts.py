"""The documents that `make corpus` translates: specifications, browser test data, READMEs and dialects."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

from monitoring.articles.translation.content_formats import TextFormat

ROOT = Path(__file__).parent.parent.parent
FETCHED = ROOT / "build/corpus"
NPM_FOLDERS = ("contract-tests/lint", "contract-tests/strangers")

_EXAMPLE = re.compile(r"^`{32} example[^\n]*\n(.*?)^\.\n", re.MULTILINE | re.DOTALL)
_TREE_TEST = re.compile(r"^#data\n(.*?)\n#errors$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Text:
    """A document, with the name under which `exceptions.txt` lists it."""

    group: str
    name: str
    source: str
    text_format: TextFormat


def read_texts() -> Iterator[Text]:
    """Yield every document."""
    for specification in ("commonmark", "gfm"):
        [path] = FETCHED.glob(f"marko-*/tests/spec/{specification}.txt")
        examples = _EXAMPLE.findall(path.read_text())
        for number, example in enumerate(examples, start=1):
            source = example.replace("→", "\t")
            yield Text(f"{specification} examples", f"{specification} {number}", source, TextFormat.MARKDOWN)
    [test_data] = FETCHED.glob("html5lib-*/html5lib/tests/testdata")
    for path in sorted(test_data.glob("tree-construction/**/*.dat")):
        tests = _TREE_TEST.findall(path.read_bytes().decode(errors="replace"))
        for number, source in enumerate(tests, start=1):
            yield Text("html5lib trees", f"{path.stem} {number}", source, TextFormat.HTML)
    for path in sorted(test_data.glob("tokenizer/*.test")):
        for number, source in enumerate(_tokenizer_inputs(path), start=1):
            yield Text("html5lib tokens", f"{path.stem} {number}", source, TextFormat.HTML)
    yield from _readmes()
    documents = (Path(__file__).parent / "dialects.txt").read_text().split("\n" + "=" * 32 + "\n")
    for number, source in enumerate(documents, start=1):
        yield Text("dialects", f"dialect {number}", source, TextFormat.MARKDOWN)


def _tokenizer_inputs(path: Path) -> Iterator[str]:
    for test in json.loads(path.read_text()).get("tests", []):
        source = test["input"]
        if test.get("doubleEscaped"):
            source = re.sub(r"\\u([0-9a-fA-F]{4})", lambda escape: chr(int(escape[1], 16)), source)
        yield source.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _readmes() -> Iterator[Text]:
    for folder in NPM_FOLDERS:
        modules = ROOT / folder / "node_modules"
        for path in sorted(modules.glob("**/[Rr][Ee][Aa][Dd][Mm][Ee].[Mm][Dd]")):
            name = f"npm {path.parent.relative_to(modules)}"
            yield Text("READMEs", name, path.read_bytes().decode(errors="replace"), TextFormat.MARKDOWN)
    for distribution in sorted(distributions(), key=lambda known: known.name):
        fields = distribution.metadata.json
        if "markdown" in str(fields.get("description_content_type", "")):
            description = str(fields.get("description", ""))
            yield Text("READMEs", f"PyPI {distribution.name}", description, TextFormat.MARKDOWN)
