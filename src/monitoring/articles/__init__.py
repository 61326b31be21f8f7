"""Articles from publishers: receives them, keeps them in the blog storage and translates them."""
