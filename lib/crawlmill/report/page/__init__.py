"""The page of a report: its data as a single self-contained HTML file."""
