"""The pages: one module for each subject, with its `ROUTES`."""
