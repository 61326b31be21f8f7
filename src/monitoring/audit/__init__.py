"""Who did what: one entry for each thing that a person did, or a program with a key."""
