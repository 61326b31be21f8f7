"""Operations for sandboxes only: create an incident now, and start over."""
