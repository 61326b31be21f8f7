"""API tools for agents. `monitoring mcp`, a separate client of the service, serves them."""
