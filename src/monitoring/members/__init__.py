"""The users of a team: how they join, how they sign in, and what they may do."""
