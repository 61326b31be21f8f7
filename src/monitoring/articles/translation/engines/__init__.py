"""Translation engines, all with one small protocol."""
