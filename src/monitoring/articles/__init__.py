"""Articles from a publisher: we take them in, keep them in the blog storage and translate them."""
