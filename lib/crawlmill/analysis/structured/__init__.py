"""Structured data of web pages as RDF: microdata, RDFa, JSON-LD and microformats2."""
