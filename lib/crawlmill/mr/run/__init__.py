"""What a run is: how it goes on, ends, and what it leaves."""
