"""Commands that build and query URL indexes."""
