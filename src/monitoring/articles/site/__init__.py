"""Site-wide files in the root of the blog storage: a sitemap, and a feed for each locale."""
