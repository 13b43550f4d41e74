"""Metadata of 2012."""
