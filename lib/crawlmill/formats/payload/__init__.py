"""HTTP bodies and their text."""
