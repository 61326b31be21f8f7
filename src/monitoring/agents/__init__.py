"""Tools with which AI agents use the API. `monitoring mcp`, a separate client of the service, serves them."""
