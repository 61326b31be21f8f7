"""Operations for sandboxes only: create an incident immediately, and delete the sandbox's data."""
