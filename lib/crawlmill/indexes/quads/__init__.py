"""Clusters of quads: the structured data of pages as N-Quads, sorted by urlkey and looked up by page."""
