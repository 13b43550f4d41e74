"""Clusters of quads: what pages say in N-Quads, sorted by urlkey, looked up by page."""
