"""Maintenance windows: a failure during a window opens no incident, and counts neither as up nor as down."""
