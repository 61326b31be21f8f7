"""The app: pages below /app for people, on the same services as the API."""
