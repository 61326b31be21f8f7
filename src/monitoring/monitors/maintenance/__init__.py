"""Maintenance windows: failures in them open no incident and count neither as up nor as down."""
