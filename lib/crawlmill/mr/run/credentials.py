"""Credentials from mrjob.conf, for everything that sends requests to AWS on behalf of a run."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

from crawlmill.mr.run.conf import conf_setting

__all__ = ["credentials_in", "credentials_of", "lend"]

_VARIABLES: Final = {
    "aws_access_key_id": "AWS_ACCESS_KEY_ID",
    "aws_secret_access_key": "AWS_SECRET_ACCESS_KEY",
    "aws_session_token": "AWS_SESSION_TOKEN",
}


def credentials_of(settings: Mapping[str, Any]) -> dict[str, str]:
    """The credentials in a runner's settings, with boto3's names."""
    return {option: str(settings[option]) for option in _VARIABLES if settings.get(option)}


def credentials_in(conf_paths: list[str]) -> dict[str, str]:
    """The credentials in these files."""
    return credentials_of({option: conf_setting(conf_paths, "emr", option) for option in _VARIABLES})


def lend(credentials: dict[str, str]) -> None:
    """Put credentials, if any, into the environment, where our storage finds them."""
    if credentials:
        for option, variable in _VARIABLES.items():
            os.environ.pop(variable, None)  # it would belong to other keys
            if option in credentials:
                os.environ[variable] = credentials[option]
