"""Connections to untrusted hosts, and HTTP over them, for checks and notifications."""
