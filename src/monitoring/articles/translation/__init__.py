"""Translates the human-readable text of an article and nothing else. Uses no database, settings or clock.

In regular expressions, use an atomic group instead of applying a possessive quantifier to a group. Up to
Python 3.11.4, such a quantifier may lose what the group's last iteration matched.
"""
