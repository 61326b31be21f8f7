"""Reads and writes translations as XLIFF 2.1 (OASIS), a format of translation tools. Has no side effects.

A file contains an article in one locale. Each unit is a segment, and its id is the segment's hash. The inline
codes `<g1>words</g1>` and `<x2/>` become `<pc id="g1">words</pc>` and `<ph id="x2"/>`. A custom attribute of
each unit contains a hash of the unit's original target. A target that still matches the hash is ignored, so
that unedited units change nothing, even if the file is old.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape, quoteattr, unescape

from monitoring.articles.corrections import TranslatedSegment
from monitoring.articles.translation.engines.batches import UNSENDABLE
from monitoring.articles.translation.inline_codes import CODE

NAMESPACE = "urn:oasis:names:tc:xliff:document:2.0"  # the same for all 2.x versions

_OWN_NAMESPACE = "urn:monitoring:translation"

# The maximum nesting depth of a target, which is more than real markup and tools' annotations need.
MAX_DEPTH = 100

_CODE_ID = re.compile(r"[gx]\d{1,6}")


class NoXliff(Exception):  # noqa: N818 - what the caller gave
    """A file was not written by `write_xliff`. The message is meant for people."""


@dataclass(frozen=True, slots=True)
class EditedTranslation:
    """The targets that were edited in a file. `texts` maps segment hashes to the edited texts."""

    article_id: str
    locale: str
    texts: dict[str, str]


def write_xliff(article_id: str, locale: str, segments: Sequence[TranslatedSegment]) -> str:
    """Return an XLIFF file with an article's segments and their existing translations."""
    units = "\n".join(map(_write_unit, segments))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<xliff xmlns="{NAMESPACE}" xmlns:own="{_OWN_NAMESPACE}" version="2.1" srcLang="en"'
        f" trgLang={quoteattr(locale)}>\n"
        f"<file id={quoteattr(article_id)}>\n{units}\n</file>\n</xliff>\n"
    )


def read_xliff(content: bytes) -> EditedTranslation:
    """Return the targets that a tool has edited in a file. Raises `NoXliff`.

    If the tool has split a unit into several segments (XLIFF 4.3.1.6), their targets are joined.
    """
    try:
        root = ET.fromstring(content)  # noqa: S314 - expat limits entities, and loads none from elsewhere
    except (ET.ParseError, LookupError, ValueError) as error:  # the last two are for unknown encodings
        raise NoXliff(f"It is no XML that can be read: {error}") from None
    files = root.findall(_name("file"))
    locale = root.get("trgLang")
    if root.tag != _name("xliff") or len(files) != 1 or not locale:
        raise NoXliff("It is no XLIFF 2 with one file and a trgLang")
    texts = {}
    for unit in files[0].iter(_name("unit")):
        target = _read_target(unit)
        if target and _fingerprint(target) != unit.get(f"{{{_OWN_NAMESPACE}}}written"):
            texts[unit.get("id", "")] = target
    return EditedTranslation(files[0].get("id", ""), locale, texts)


def _write_unit(segment: TranslatedSegment) -> str:
    state = "initial" if segment.text is None else "final" if segment.is_corrected else "translated"
    target = "" if segment.text is None else f"<target>{_write_codes(segment.text)}</target>"
    written = "" if segment.text is None else f' own:written="{_fingerprint(segment.text)}"'
    return (
        f'<unit id={quoteattr(segment.hash)}{written}><segment state="{state}">'
        f"<source>{_write_codes(segment.source)}</source>{target}</segment></unit>"
    )


def _fingerprint(target: str) -> str:
    """Hash a target. The hash does not depend on how characters are escaped."""
    return hashlib.blake2b(unescape(UNSENDABLE.sub("", target)).encode(), digest_size=8).hexdigest()


def _write_codes(text: str) -> str:
    """Replace inline codes with XLIFF elements. The rest of a segment is already XML."""

    def replaced(code: re.Match[str]) -> str:
        written = code.group()
        if written.startswith("<x"):
            return f'<ph id="{written[1:-2]}"/>'
        return "</pc>" if written.startswith("</") else f'<pc id="{written[1:-1]}">'

    return CODE.sub(replaced, UNSENDABLE.sub("", text))


def _read_target(unit: ET.Element) -> str:
    """Return the joined targets of a unit, or an empty string if one of its segments has no target.

    Text between segments, such as spaces, may have a source but no target. In that case, the source is used.
    """
    read = ""
    for part in unit:
        target = part.find(_name("target"))
        if part.tag == _name("segment") and target is None:
            return ""
        side = part.find(_name("source")) if target is None else target
        if part.tag in {_name("segment"), _name("ignorable")} and side is not None:
            read += "".join(_read_inline(side))
    return read


def _read_inline(element: ET.Element, depth: int = 0) -> Iterator[str]:
    if depth > MAX_DEPTH:
        raise NoXliff(f"A target has more than {MAX_DEPTH} elements within each other")
    yield escape(element.text or "")
    for child in element:
        inner, code = "".join(_read_inline(child, depth + 1)), child.get("id", "")
        if child.tag == _name("mrk"):  # a tool's annotation
            yield inner
        elif not _CODE_ID.fullmatch(code) or child.tag not in {_name("pc"), _name("ph")}:
            raise NoXliff(
                f"Its target has the element {child.tag.partition('}')[2]}, which the source has not"
            )
        else:
            yield f"<{code}>{inner}</{code}>" if child.tag == _name("pc") else f"<{code}/>"
        yield escape(child.tail or "")


def _name(tag: str) -> str:
    return f"{{{NAMESPACE}}}{tag}"
