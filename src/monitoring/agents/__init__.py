"""The API as tools for agents, which `monitoring mcp` serves: a client of the service, and no part of it."""
