"""Clients may repeat a write when in doubt: it acts once."""
