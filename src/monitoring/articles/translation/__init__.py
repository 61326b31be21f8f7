"""Translates an article without damage: only human words change. Knows no database, settings or clock."""
