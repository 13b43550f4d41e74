"""The result lines of runs as tables: their columns, the formats that hold them, and a reader of output folders."""
