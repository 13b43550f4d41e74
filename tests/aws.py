"""boto3 for tests: what it knows of the services, megabytes of JSON, is read once a process instead of once a session."""

from __future__ import annotations

import functools

import botocore.session

__all__ = ["boto3"]

botocore.session.create_loader = functools.cache(botocore.session.create_loader)

import boto3  # noqa: E402
