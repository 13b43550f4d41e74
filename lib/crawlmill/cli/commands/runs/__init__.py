"""Commands around the runs of jobs."""
