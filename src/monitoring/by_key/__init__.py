"""Keys by which clients name their own rows: put under a key, a row is created or replaced."""
