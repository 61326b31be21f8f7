"""The real engine, installed when it is missing."""

from collections.abc import Iterator

import pytest

from monitoring.articles.translation.engines.apertium import Apertium
from real_servers import install_servers


@pytest.fixture(scope="session")
def apertium() -> Iterator[Apertium]:
    install_servers()
    engine = Apertium()
    yield engine
    engine.close()
