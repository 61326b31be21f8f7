"""Checks: when a monitor is checked, how, what it found, and what many checks add up to."""
