"""The content of a sample's pages: words of several languages, the markup around them, whole documents."""
