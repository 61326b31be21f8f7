"""The users of a team: how they join, how they sign in, and what their roles permit."""
