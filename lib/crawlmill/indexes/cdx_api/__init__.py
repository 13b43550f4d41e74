"""CDX APIs: web servers that look up captures, queried politely, page by page."""
