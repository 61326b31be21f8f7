"""Checks: what an exchange is worth, when the next one is due, and what many of them add up to."""
