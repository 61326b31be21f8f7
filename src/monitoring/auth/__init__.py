"""Who calls, and what they may do: teams, API keys, tokens, the webhook secret, rate limits."""
