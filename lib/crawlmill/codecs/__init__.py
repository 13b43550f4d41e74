"""Codecs: from bytes to verified bytes, for gzip members, Zstandard frames and Hadoop's codecs."""
