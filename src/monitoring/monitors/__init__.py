"""Monitors: the servers and jobs that a team watches."""
