"""HTTP requests to addresses that strangers chose: monitors' checks and outgoing webhooks."""
