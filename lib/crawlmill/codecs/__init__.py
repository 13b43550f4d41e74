"""Bytes to verified bytes: gzip members and Hadoop codecs."""
