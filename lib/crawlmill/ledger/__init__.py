"""The ledger: what became of each input of a run, its sum, its file, and what is written beside it."""
