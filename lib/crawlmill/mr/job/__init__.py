"""Jobs: the base classes, their options and their help."""
