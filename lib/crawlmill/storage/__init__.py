"""Locations to bytes: local files, HTTP, S3, HDFS."""
