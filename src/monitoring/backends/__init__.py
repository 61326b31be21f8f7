"""The backends: database, blog storage, queue and counters. Code outside does not know which kind is used."""
