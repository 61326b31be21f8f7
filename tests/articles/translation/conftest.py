"""The real engine."""

from collections.abc import Iterator

import pytest

from debian_programs import find_program
from monitoring.articles.translation.engines.apertium import Apertium


@pytest.fixture(scope="session")
def apertium() -> Iterator[Apertium]:
    find_program("apertium")
    engine = Apertium()
    yield engine
    engine.close()
