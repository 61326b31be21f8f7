"""The backends: database, blog storage, queue and counters, each with interchangeable implementations."""
