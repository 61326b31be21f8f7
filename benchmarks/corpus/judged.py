"""Validates translations by people, from the message catalogues of programs.

Each rejected translation is a false alarm or a mistake by a translator. docs/translation.md has the counts.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

from translate.storage.po import pofile

from monitoring.articles.translation.judgement import find_fault
from monitoring.articles.translation.untranslated import opaque_pattern

WHEELS = Path(__file__).parents[2] / "build/corpus/translations"
# fmt: off
LOCALES = dict.fromkeys((
    "ar", "ca", "cs", "da", "de", "el", "es", "fi", "fr", "gl", "he", "hi", "hu", "id", "it", "ja", "ko",
    "nl", "pl", "pt", "pt-BR", "ro", "ru", "sv", "tr", "uk", "vi",
), ()) | {"nb": ("nb_NO",), "zh": ("zh_Hans", "zh_CN"), "zh-Hant": ("zh_Hant", "zh_TW")}
# fmt: on


def pairs(locale: str) -> Iterator[tuple[str, str]]:
    """Yield each English text without markup once, with its translation."""
    seen: set[str] = set()
    for wheel in sorted(WHEELS.glob("*.whl")):
        with ZipFile(wheel) as archive:
            for name in archive.namelist():
                folder, _, file = name.partition("/LC_MESSAGES/")
                folders = {locale.replace("-", "_"), *LOCALES[locale]}
                if file.endswith(".po") and folder.rpartition("/")[2] in folders:
                    yield from _pairs_of(pofile(BytesIO(archive.read(name))), seen)


def _pairs_of(catalogue: pofile, seen: set[str]) -> Iterator[tuple[str, str]]:
    for unit in catalogue.units:
        source, text = (" ".join(str(part).split()) for part in (unit.source, unit.target))
        is_usable = unit.istranslated() and not (unit.isheader() or unit.isfuzzy() or unit.hasplural())
        is_marked_up = opaque_pattern().search(source) or not {"<", "&", "%"}.isdisjoint(source)
        if is_usable and not is_marked_up and source not in seen and any(map(str.isalpha, source)):
            seen.add(source)
            yield source, text


def main() -> int:
    """Print the counts by locale. With `--show`, also print the rejected translations."""
    for locale in sorted(LOCALES):
        faults: Counter[str] = Counter()
        count = 0
        for count, (source, text) in enumerate(pairs(locale), start=1):  # noqa: B007 - the last is how many
            fault = find_fault(source, text, locale)
            if fault:
                faults[fault] += 1
                if "--show" in sys.argv:
                    print(f"  {locale} {fault}: {source} | {text}")
        refused = faults.total()
        share = f"{refused / max(count, 1):.2%}"
        kinds = ", ".join(f"{fault} {number}" for fault, number in faults.most_common())
        print(f"{locale}: {refused} of {count:,} refused ({share}): {kinds}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
