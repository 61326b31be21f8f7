"""Monitors as code: a file of monitors, channels and maintenance windows is applied to a service."""
