"""The app: web pages below the path /app, which call the same service functions as the API."""
