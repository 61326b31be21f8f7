"""Keys that clients choose for rows. A PUT to a key's URL creates the row with this key, or replaces it."""
