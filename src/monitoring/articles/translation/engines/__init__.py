"""Translation engines, which all implement the protocol `Engine`."""
