"""Where things are kept: database, blog storage, queue and counters. Nothing outside knows which kind."""
