"""If an engine fails in the middle of an article, it is not asked again for segments it has translated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from articles.desk import ObedientEngine, deliver, make_due, states, translate
from monitoring.articles.translation import translated_segments
from monitoring.articles.translation.engines import TransientEngineError

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("backends")]


class TiredEngine(ObedientEngine):
    """Answers one request an attempt, then fails."""

    is_tired = False

    def translate(self, segments: Sequence[str], source: str, target: str) -> list[str]:
        self.is_tired = not self.is_tired
        if not self.is_tired:
            raise TransientEngineError("The engine is tired")
        return super().translate(segments, source, target)


async def test_every_attempt_goes_on_where_the_last_one_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translated_segments, "SEGMENTS_AT_A_TIME", 1)
    article, engine = await deliver("Title", excerpt="Excerpt"), TiredEngine()
    for _ in range(3):
        await translate(article, engine)
        await make_due(article)
    assert set((await states(article)).values()) == {"translated"}
    assert len(engine.asked) == len(set(engine.asked)) == 4
