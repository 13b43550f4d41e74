"""The results of runs as tables: their columns, their formats, and a reader of output folders."""
