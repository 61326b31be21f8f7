"""History: the results of checks, and what many of them add up to: uptime, response times, rollups."""
