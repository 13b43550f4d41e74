"""The work within a task, on any engine."""
