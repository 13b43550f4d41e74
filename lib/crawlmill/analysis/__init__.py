"""Analysis: pure functions and counters, from bytes or text to values."""
