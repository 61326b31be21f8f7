"""Checks: when a monitor is checked, how, and what is stored of it."""
