"""Translates an article without damage: only human words change. Knows no database, no settings, no clock."""
