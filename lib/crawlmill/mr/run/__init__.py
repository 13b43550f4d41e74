"""What a run is: its progress, its end, and what it leaves behind."""
