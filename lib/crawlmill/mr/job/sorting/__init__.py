"""Bases of jobs whose result is sorted files: lines are labelled with their file, and the shuffle sorts them."""
