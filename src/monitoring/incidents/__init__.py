"""Incidents: when monitors broke, why, and when they healed."""
