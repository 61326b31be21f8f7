"""API tools for agents. `monitoring mcp` serves them. It is a client of the service, not a part of it."""
