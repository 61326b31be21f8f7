"""Pings: what jobs report to their heartbeats. Each ping that ends a run counts as a check."""
