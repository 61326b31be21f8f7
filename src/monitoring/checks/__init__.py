"""Checks: when and how a monitor is checked, and what is stored."""
