"""What jobs and commands share as programs: their standard streams, and how they end. The standard library alone."""
