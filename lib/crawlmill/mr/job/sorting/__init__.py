"""Base classes of jobs that write sorted files: lines are labelled with their file, and the shuffle sorts them."""
