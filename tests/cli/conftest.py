"""Runs a command line in this process."""

from __future__ import annotations

import sys

import pytest

from crawlmill.cli.main import main


@pytest.fixture
def run(capfdbinary):
    """Run a command line; (exit code, stdout, stderr as text)."""

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return code, out, err.decode()

    return run
