"""CDX and CDXJ files."""
