"""Commands that look into archive files."""
