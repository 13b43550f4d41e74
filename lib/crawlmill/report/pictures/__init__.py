"""Pictures that only the results of some jobs have."""
