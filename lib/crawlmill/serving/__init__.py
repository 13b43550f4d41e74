"""Serves archives and clusters on this machine, with the program pywb.

`collection` prepares what pywb reads, in a temporary folder; `program` finds pywb, starts it and stops it.
"""
