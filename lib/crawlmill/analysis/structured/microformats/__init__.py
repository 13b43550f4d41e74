"""microformats2, and the classic microformats that it took over, as RDF."""
