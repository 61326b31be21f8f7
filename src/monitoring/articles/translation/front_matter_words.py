"""Finds the reader-visible fields in a text's front matter, such as title and description."""

import json
import re
from collections.abc import Callable, Iterator, Mapping

from monitoring.articles.translation.segmentation import Atom, Format, Kind, assemble
from monitoring.articles.translation.segments import Template
from monitoring.articles.translation.untranslated import opaque_pattern

_BLOCK = -1  # differs from all block numbers after the front matter

# A top-level field with a single-line string: double-quoted, single-quoted or plain.
_NAME = r"^(?:title|subtitle|description|summary|excerpt)"
_QUOTED = r""""(?P<double>(?:[^"\\\x00-\x1f]|\\["\\/nt])*)"|'(?P<single>(?:[^'\r\n]|'')*)'"""
_PLAIN = r"(?P<plain>[^\s\"'&*!|>%@`\[\]{}#?:,-](?:[^\r\n#:]|:(?!\s)|(?<!\s)\#)*?)"
_END = r"[ \t]*(?=\r?\n(?![ \t]))"
_YAML_FIELD = re.compile(rf"{_NAME}:[ \t]+(?:{_QUOTED}|{_PLAIN}){_END}", re.MULTILINE)
_TOML_FIELD = re.compile(rf"{_NAME}[ \t]*=[ \t]*(?:{_QUOTED}){_END}", re.MULTILINE)


def front_matter_template(front_matter: str, brand_names: tuple[str, ...] = ()) -> Template:
    """Parse YAML or TOML front matter. Multi-line values and JSON stay unchanged."""
    return assemble(_atoms(front_matter, opaque_pattern(brand_names)))


def _atoms(front_matter: str, opaque: re.Pattern[str]) -> Iterator[Atom]:
    fields = _TOML_FIELD if front_matter.lstrip("\ufeff").startswith("+++") else _YAML_FIELD
    position = 0
    for field in fields.finditer(front_matter):
        style = field.lastgroup or ""
        start, end = field.span(style)
        if style == "plain" and opaque.search(field[style]):
            continue  # unchanged, because each part around opaque text would get its own quotes
        decode, escape = _STYLES["literal" if fields is _TOML_FIELD and style == "single" else style]
        yield Atom(Kind.BREAK, (front_matter[position:start],))
        yield Atom(Kind.TEXT, (field[style],), text_format=Format(decode, escape, opaque), block=_BLOCK)
        position = end
    yield Atom(Kind.BREAK, (front_matter[position:],))


def _read_double(raw: str) -> str:
    return str(json.loads(f'"{raw}"'))


def _write_double(text: str) -> str:
    return _write_with_quotes(text)[1:-1]


def _write_with_quotes(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _read_single(raw: str) -> str:
    return raw.replace("''", "'")


def _write_single(text: str) -> str:
    return text.replace("'", "''")


def _write_literal(text: str) -> str:
    return text.replace("'", "\u2019")  # TOML's literal strings cannot contain an apostrophe


# How to decode and encode each style of string.
_Rewrite = Callable[[str], str]
_STYLES: Mapping[str, tuple[_Rewrite, _Rewrite]] = {
    "double": (_read_double, _write_double),
    "single": (_read_single, _write_single),
    "literal": (str, _write_literal),
    "plain": (str, _write_with_quotes),
}
