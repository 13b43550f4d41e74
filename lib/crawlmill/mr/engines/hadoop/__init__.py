"""YARN."""
