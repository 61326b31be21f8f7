"""Notifications: they tell the servers of a team about incidents."""
