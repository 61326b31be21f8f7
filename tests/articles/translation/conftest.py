"""The real engine, installed when it is missing."""

from collections.abc import Iterator

import pytest

from monitoring.articles.translation.engines.apertium import Apertium
from real_servers import install_engines


@pytest.fixture(scope="session")
def apertium() -> Iterator[Apertium]:
    install_engines()
    engine = Apertium()
    yield engine
    engine.close()
