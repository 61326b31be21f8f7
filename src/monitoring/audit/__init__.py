"""Who did what: one entry for each thing a person did in the app or on the command line."""
