"""The published document as code: what requests, answers and errors are. It knows no server."""
