"""Articles from a publisher: taken in, kept in the blog storage, translated into every locale."""
