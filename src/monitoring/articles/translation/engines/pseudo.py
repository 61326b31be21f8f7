"""Pseudolocalisation: accented English in brackets, readable and clearly not a translation."""

import re
from collections.abc import Sequence

from monitoring.articles.translation.engines.protocol import BatchLimit

_MARKUP = re.compile(r"(<[^>]*>|&#?\w+;)")
_ACCENTS = str.maketrans(
    "AaBbCcDdEeFfGgHhIiJjKkLlMmNnOoPpRrSsTtUuVvWwYyZz",
    "ÅåƁƀÇçÐðÉéƑƒĜĝĤĥÎîĴĵĶķĻļḾḿÑñÖöÞþŔŕŠšŢţÛûṼṽŴŵÝýŽž",
)


class Pseudo:
    """An engine that demonstrates the service in every locale, without real translations."""

    name = "pseudo"
    is_demonstration = True
    batch_limit = BatchLimit(max_texts=100, max_bytes=64 * 1024)

    def check(self, locales: Sequence[str]) -> list[str]:  # noqa: ARG002
        """Return no messages, because every locale is supported."""
        return []

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:  # noqa: ARG002
        """Translate segments, such as `Hello <x1/>` to `⟦Ĥéļļö <x1/>⟧`."""
        return [f"⟦{_accented(segment)}⟧" for segment in segments]

    def close(self) -> None:
        """Do nothing, because there are no resources to release."""


def _accented(segment: str) -> str:
    parts = _MARKUP.split(segment)
    return "".join(part if index % 2 else part.translate(_ACCENTS) for index, part in enumerate(parts))
