"""The report of a run: its data, from the output folder (`data`), and its HTML page (`page`)."""
