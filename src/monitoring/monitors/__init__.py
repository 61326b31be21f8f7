"""Monitors: the web addresses a team watches."""
