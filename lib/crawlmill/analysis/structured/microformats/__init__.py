"""microformats2, and the classic microformats that it includes, as RDF."""
