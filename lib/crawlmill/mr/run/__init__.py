"""Runs: progress, end, and output."""
