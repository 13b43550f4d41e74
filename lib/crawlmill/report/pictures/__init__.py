"""Pictures that the results of some jobs have beside those of all."""
