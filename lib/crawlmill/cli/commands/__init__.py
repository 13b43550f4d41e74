"""The commands, a module each, in rooms: its docstring is the help text, `add_arguments` and `run` are what it does."""
