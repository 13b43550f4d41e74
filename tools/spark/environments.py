"""Environments with nothing but Spark, one for each line of versions, in `.cache/spark`: `environments.py [3.5] [4]`.

Jobs run by the project's own Python; all they take from there is spark-submit. What is there already is left as it is.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

CACHE: Final = Path(__file__).resolve().parents[2] / ".cache" / "spark"
VERSIONS: Final = {"3.5": "3.5.9", "4": "4.3.0"}


def submit_of(line: str) -> Path:
    """The spark-submit of a line of versions, which need not be there."""
    return CACHE / line / "bin" / "spark-submit"


def make(line: str) -> None:
    """Make the environment. Raises: CalledProcessError."""
    home = CACHE / line
    made = home / "made"
    if made.exists() and made.read_text() == VERSIONS[line]:
        return
    print(f"installing Spark {VERSIONS[line]} into {home}: some 400 MB", file=sys.stderr)
    venv.create(home, with_pip=True)
    command = [str(home / "bin" / "pip"), "install", "-q", "--disable-pip-version-check", f"pyspark=={VERSIONS[line]}"]
    subprocess.run(command, check=True, stdout=sys.stderr)
    made.write_text(VERSIONS[line])


if __name__ == "__main__":
    for each in sys.argv[1:] or VERSIONS:
        make(each)
        print(submit_of(each))
