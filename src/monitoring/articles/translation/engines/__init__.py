"""Translation engines, behind one small protocol."""

from monitoring.articles.translation.engines.protocol import (
    Engine,
    EngineError,
    PermanentEngineError,
    TransientEngineError,
)

__all__ = ["Engine", "EngineError", "PermanentEngineError", "TransientEngineError"]
