"""Alice's pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from as_code.commands import Pipeline

if TYPE_CHECKING:
    from pathlib import Path

    from cast import Player


@pytest.fixture
def pipeline(tmp_path: Path, alice: Player) -> Pipeline:
    return Pipeline(tmp_path, alice)
