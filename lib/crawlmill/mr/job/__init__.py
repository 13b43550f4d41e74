"""What a job is: the bases, their options and help."""
