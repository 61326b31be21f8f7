"""The app: web pages under the path /app, which call the same service functions as the API."""
