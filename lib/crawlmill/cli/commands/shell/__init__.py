"""Commands for the user's shell."""
