"""History: check results and their aggregates: uptime, response times, rollups."""
