"""Commands that read archive files."""
