"""Translation engines, behind one small protocol."""

from monitoring.articles.translation.engines.protocol import (
    BatchLimit,
    Engine,
    EngineError,
    PermanentEngineError,
    TransientEngineError,
)

__all__ = ["BatchLimit", "Engine", "EngineError", "PermanentEngineError", "TransientEngineError"]
