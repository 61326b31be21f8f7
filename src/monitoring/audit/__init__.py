"""Who did what: one line for each thing a person did in the app or on the command line."""
