"""Serving archives and clusters on this machine: pywb, a program of its own, on a collection of them.

`collection` prepares what pywb reads, in a temporary folder; `program` finds pywb, starts it and stops it.
"""
