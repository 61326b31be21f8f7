"""Receives articles from publishers, keeps them in the blog storage, and translates them."""
