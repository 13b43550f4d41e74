"""Commands that list, fetch or generate crawls."""
