"""What only a sandbox can do: have an incident now, and begin again."""
