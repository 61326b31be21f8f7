"""Incidents: when a monitor went down, why, and when it recovered."""
