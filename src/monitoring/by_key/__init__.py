"""Keys that clients choose for rows: a PUT under a key creates the row with this key, or replaces it."""
