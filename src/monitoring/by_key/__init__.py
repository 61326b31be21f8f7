"""Client-chosen keys: a PUT under a key creates or replaces the row."""
