"""Commands for runs of jobs."""
