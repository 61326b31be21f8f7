"""If an engine fails in the middle of an article, it is not asked again for segments it has translated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from articles.desk import ObedientEngine, deliver, make_due, states, translate
from monitoring.articles.translation.engines.protocol import BatchLimit, TransientEngineError

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]


class TiredEngine(ObedientEngine):
    """Answers one request of each two into a locale."""

    batch_limit = BatchLimit(max_texts=1, max_bytes=1000)

    def __init__(self) -> None:
        super().__init__()
        self._tired_of: set[str] = set()

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
        self._tired_of ^= {target}
        if target not in self._tired_of:
            raise TransientEngineError("The engine is tired")
        return super().translate(segments, source, target)


async def test_every_attempt_goes_on_where_the_last_one_ended() -> None:
    article, engine = await deliver("Title", excerpt="Excerpt"), TiredEngine()
    for _ in range(2):
        await translate(article, engine)
        await make_due(article)
    assert set((await states(article)).values()) == {"translated"}
    assert len(engine.asked) == len(set(engine.asked)) == 4
