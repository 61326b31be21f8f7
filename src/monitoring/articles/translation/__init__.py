"""Translates an article without damage: only human words change. Knows no database, settings or clock.

In its patterns, no possessive quantifier follows a group: up to Python 3.11.4, one loses what the group's
last try has read. Atomic groups do not.
"""
