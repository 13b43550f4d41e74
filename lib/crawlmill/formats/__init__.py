"""Formats: streams to records to typed payloads. Nothing here opens files."""
