"""What happens within a task, whatever the engine."""
