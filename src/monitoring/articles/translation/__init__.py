"""Translates the human-readable text of an article and nothing else. Uses no database, settings or clock.

Its patterns put no possessive quantifier after a group: up to Python 3.11.4, that loses what the group's last
iteration matched. Atomic groups are safe.
"""
