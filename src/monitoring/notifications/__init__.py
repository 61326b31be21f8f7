"""Notification webhooks: a team's own servers are told of incidents."""
