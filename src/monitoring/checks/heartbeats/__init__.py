"""Pings: what jobs report to their heartbeats, which is a check that comes by itself."""
