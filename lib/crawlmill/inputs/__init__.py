"""Input lists, and reading one input to its end: the layer between storage and formats."""
