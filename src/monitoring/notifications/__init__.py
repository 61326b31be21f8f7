"""Notifications: messages to a team's channels about incidents, certificates and articles."""
