"""Heartbeats: monitors that jobs report to, instead of being polled."""
