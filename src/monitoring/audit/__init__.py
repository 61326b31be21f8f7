"""The audit log: one entry for each action of a user, or of a program with a key."""
