"""Probes: how monitors are checked, one file per monitor type."""
