"""The page of a run: what is in an output folder (`data`), and how people read it (`page`)."""
