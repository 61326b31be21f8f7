"""The published document as the code sees it: routes, security, validation and errors all come from it."""
