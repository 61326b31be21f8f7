"""What the metrics of this process say. Counters belong to the whole process, so tests look at increases."""

from __future__ import annotations

from prometheus_client import REGISTRY


def reading(name: str, **labels: str) -> float:
    """Return the value of a metric, without the `monitoring_` of its name; 0 if there is none."""
    return REGISTRY.get_sample_value(f"monitoring_{name}", labels) or 0.0
