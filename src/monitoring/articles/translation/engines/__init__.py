"""Translation engines behind one small protocol."""

from collections.abc import Callable, Mapping
from typing import Any

from monitoring.articles.translation.engines.apertium import Apertium
from monitoring.articles.translation.engines.protocol import (
    Engine,
    PermanentEngineError,
    TransientEngineError,
)
from monitoring.articles.translation.engines.pseudo import Pseudo

__all__ = ["ENGINES", "Engine", "PermanentEngineError", "TransientEngineError", "build_engine"]

ENGINES: Mapping[str, Callable[..., Engine]] = {"apertium": Apertium, "pseudo": Pseudo}


def build_engine(name: str, **options: Any) -> Engine:  # noqa: ANN401 (each engine has its own)
    """Make the engine of this name, one of ENGINES; raise KeyError for another."""
    return ENGINES[name](**options)
