"""History: check results, and aggregates of them such as uptime, response times and rollups."""
