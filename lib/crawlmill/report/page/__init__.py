"""The page of a report: its data drawn as one HTML file that needs nothing else."""
