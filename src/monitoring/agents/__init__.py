"""API tools for agents, served by `monitoring mcp`, which is a client of the service, not a part of it."""
