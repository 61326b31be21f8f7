"""The published document as code: its requests, replies and errors, independent of any server."""
