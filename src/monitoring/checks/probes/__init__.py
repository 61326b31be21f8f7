"""Probes: a probe checks monitors of one type. Each type has its own file."""
