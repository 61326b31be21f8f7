"""Reads the metrics of this process. Counters are shared by the process, so tests compare increases."""

from __future__ import annotations

from prometheus_client import REGISTRY


def reading(name: str, **labels: str) -> float:
    """Return the value of a metric, or 0 if it has no value. `name` omits the prefix `monitoring_`."""
    return REGISTRY.get_sample_value(f"monitoring_{name}", labels) or 0.0
