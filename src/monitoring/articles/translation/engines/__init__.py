"""Translation engines behind one small protocol."""

from monitoring.articles.translation.engines.protocol import (
    Engine,
    PermanentEngineError,
    TransientEngineError,
)

__all__ = ["Engine", "PermanentEngineError", "TransientEngineError"]
