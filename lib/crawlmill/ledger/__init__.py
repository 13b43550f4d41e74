"""The ledger: the outcome of each input of a run, their sums, the ledger file, and `_run.json`."""
