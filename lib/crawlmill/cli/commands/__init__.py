"""The commands, one module each: the docstring is the help text; `add_arguments` and `run` do the work."""
