"""Monitors as code: applies a file of monitors, channels and maintenance windows to a service."""
