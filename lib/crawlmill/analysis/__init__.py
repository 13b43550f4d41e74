"""Pure functions and counters: bytes or text to values."""
