"""What the pages of a sample say: words of several languages, the markup around them, whole documents."""
