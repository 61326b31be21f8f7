"""Translation engines, behind one small protocol."""
