"""What jobs and commands share as programs: standard streams and exits. Uses the standard library alone."""
