"""One bakery for each test module, served over real sockets."""

from collections.abc import Iterator

import pytest

from bakery.service import build_bakery
from raw_http import Address, served


@pytest.fixture(scope="module")
def bakery() -> Iterator[Address]:
    with served(build_bakery()) as address:
        yield address
