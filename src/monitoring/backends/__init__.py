"""Where things are kept: database, blog storage, queue and counters. Nothing outside knows which kind."""

# Here Tortoise is loaded first, for less than others would pay.
from monitoring.backends import tortoise_bridge as tortoise_bridge
