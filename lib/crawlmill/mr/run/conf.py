"""Finds mrjob.conf: the first of `-c`, `$MRJOB_CONF`, `~/.mrjob.conf`, the project's own, `/etc/mrjob.conf`.

A file that happens to be in the working folder is never used: a configuration can run commands. The project's own is
above the `jobs` folder of the job's script, or in the package (in a clone, a link to the one above `lib`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import yaml

import crawlmill
from crawlmill.errors import UsageError
from crawlmill.mr.compat import load_conf, load_settings
from crawlmill.storage import StorageOptions

__all__ = ["conf_paths", "conf_setting", "endpoint_url", "with_s3_settings"]


def conf_paths(given: list[str] | None, script: str | None) -> list[str]:
    """The files to read; `given` are those of the command line (empty: use none).

    Raises:
        UsageError: A file named by the user does not exist, or a file is not a configuration.
    """
    named = os.environ.get("MRJOB_CONF")
    if given is not None:
        paths = given
    elif named:
        paths = [named]
    else:
        paths = [str(path) for path in _usual(script) if path.exists()][:1]
    for path in paths:
        _check(path)
    return paths


def conf_setting(paths: list[str], runner: str, name: str) -> str | None:
    """The value of one setting of a runner in these files; a file overrides the files that it includes."""
    found = None
    for _, settings in load_settings(runner, conf_paths=paths):
        found = settings.get(name) or found
    return found


def endpoint_url(named: str | None) -> str | None:
    """The URL of an endpoint, which mrjob.conf may name by its host alone."""
    return named if not named or "://" in named else f"https://{named}"


def with_s3_settings(options: StorageOptions, paths: list[str], runner: str) -> StorageOptions:
    """Add a runner's S3 settings in these files to the options; options on the command line take precedence.

    Raises:
        UsageError: A setting is not valid.
    """
    if not options.s3_endpoint:
        options = replace(options, s3_endpoint=endpoint_url(conf_setting(paths, runner, "s3_endpoint")))
    if options.s3_sse is None:
        sse, key = (conf_setting(paths, runner, name) for name in ("s3_sse", "s3_sse_kms_key_id"))
        options = replace(options, s3_sse=sse, s3_sse_kms_key_id=options.s3_sse_kms_key_id or key)
    return options


def _check(path: str) -> None:
    """Check a file, since mrjob would report errors in it with a traceback."""
    try:
        conf = load_conf(Path(path).expanduser().read_text(encoding="locale"))  # as mrjob will read it
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UsageError(f"mrjob.conf cannot be read: {path}: {' '.join(str(error).split())}") from error
    runners = conf.get("runners", {}) if isinstance(conf, dict) else None
    if not isinstance(runners, dict) or not all(isinstance(each, dict | None) for each in runners.values()):
        raise UsageError(f"no mrjob.conf: {path}: expected `runners:` with a mapping for each runner")


def _usual(script: str | None) -> Iterator[Path]:
    yield Path("~/.mrjob.conf").expanduser()
    if script is not None and Path(script).resolve().parent.name == "jobs":
        yield Path(script).resolve().parent.parent / "mrjob.conf"
    yield Path(crawlmill.__file__).with_name("mrjob.conf").resolve()
    yield Path("/etc/mrjob.conf")
