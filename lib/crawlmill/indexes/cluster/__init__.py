"""ZipNum clusters."""
