"""RDFa 1.1 in HTML as RDF."""
