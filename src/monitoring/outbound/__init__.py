"""Connections to hosts that strangers chose, and HTTP over them: for checks and outgoing webhooks."""
