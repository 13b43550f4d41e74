"""The ledger: the outcome of each input of a run, their sums, the file, and what is written next to it."""
