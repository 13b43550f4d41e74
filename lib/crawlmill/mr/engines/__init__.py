"""Engines: the ways to run tasks."""
