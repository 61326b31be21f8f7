"""Authentication and authorisation: teams, API keys, tokens, the webhook secret, rate limits."""
