"""Plain text: every line is a segment of its own."""

import re

from monitoring.articles.translation.assembly import Atom, Format, Kind, assemble
from monitoring.articles.translation.opaque import opaque_pattern
from monitoring.articles.translation.segments import Template


def plain_template(source: str, brand_names: tuple[str, ...] = ()) -> Template:
    """Find the segments of a plain text."""
    parts = re.split(r"([\r\n]+)", source)
    kinds = (Kind.BREAK if index % 2 else Kind.TEXT for index in range(len(parts)))
    words = Format(str, str, opaque_pattern(brand_names))
    atoms = [
        Atom(kind, (part,), text_format=words if kind is Kind.TEXT else None)
        for kind, part in zip(kinds, parts, strict=True)
    ]
    return assemble(atoms)
