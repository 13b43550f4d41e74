"""inline and local."""
