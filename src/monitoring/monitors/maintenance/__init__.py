"""Maintenance windows: times in which failures open no incidents and count neither as up nor as down."""
