"""The real engine, installed when it is missing."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitoring.articles.translation.engines.apertium import Apertium

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def apertium() -> Iterator[Apertium]:
    subprocess.run([REPOSITORY / ".ci" / "install-apertium"], check=True)
    engine = Apertium()
    yield engine
    engine.close()
