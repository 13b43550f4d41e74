"""CDX APIs: web servers that look up captures, asked page by page and politely."""
