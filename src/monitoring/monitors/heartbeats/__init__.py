"""Heartbeats: monitors that poll no server, because jobs report to them."""
