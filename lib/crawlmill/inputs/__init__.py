"""Where storage meets formats: input lists, reading one input to its end, the ledger."""
