"""Pack what tasks need beside our own package into one file, build/env.pex, for nodes that have Python and no more.

In it: the packages that setup.cfg names, the accelerated decoders, and the native core where cargo can build it. Not in
it: Crawlmill, which travels with every job, and which a copy of last week must not stand before. The file is for the
kind of machine, and the minor version of Python, that make it.

Of PEX's options two matter: without `inherit-path=fallback` it would hide our package, and `sh-boot` halves the start
of a task.
"""

from __future__ import annotations

import argparse
import configparser
import shutil
import subprocess
import sys
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
CACHE = PROJECT / ".cache" / "pex"
PEX = "pex >= 2.60, < 3"
OPTIONAL = ("fast", "legacy", "columnar", "structured")


def main() -> int:
    """Make the file; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--output", type=Path, default=PROJECT / "build" / "env.pex", help="(default: build/env.pex)")
    parser.add_argument("--no-native", action="store_true", help="leave out the native core")
    parser.add_argument(
        "--extras",
        nargs="*",
        choices=OPTIONAL,
        default=OPTIONAL,
        help="extras of setup.cfg to pack; without columnar the file is a third as large (default: all of these)",
    )
    options = parser.parse_args()
    python = "{}.{}".format(*sys.version_info)
    if sys.version_info < (3, 11):  # noqa: UP036 - run by whatever Python make is given
        return complain(f"Crawlmill needs Python 3.11 or newer, this is {python}: make pex PYTHON=python3.11")
    setup = configparser.ConfigParser()
    setup.read(PROJECT / "setup.cfg")
    needed = listed(setup["options"]["install_requires"])
    extras = [each for name in options.extras for each in listed(setup["options.extras_require"][name])]
    home = CACHE / python
    if not (home / "bin" / "pex").exists():
        venv.create(home, clear=True, with_pip=True)
        if run(home / "bin" / "pip", "install", "-q", "--disable-pip-version-check", PEX):
            return complain("pex could not be installed")
    wheels = home / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    # pip, which has the wheels of this project in its cache, finds them in half the time that pex would take.
    packages = next((each for each in ([*needed, *extras], needed) if not get_wheels(home, wheels, *each)), None)
    if packages is None:
        return complain("the packages that setup.cfg names could not be had")
    if not options.no_native and shutil.which("cargo"):
        if get_wheels(home, wheels, "--no-deps", PROJECT / "native"):
            complain("the native core could not be built: tasks will do without it")
        else:
            packages = [*packages, "crawlmill-native"]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    command = [
        home / "bin" / "pex",
        "--inherit-path=fallback",
        "--sh-boot",
        f"--interpreter-constraint=CPython=={python}.*",
        "--python",
        sys.executable,
        "--pex-root",
        CACHE / "root",
        "--pre-resolved-dists",
        wheels,
        "-o",
        options.output,
    ]
    if run(*command, *packages):
        return complain(f"{options.output} could not be made")
    size = options.output.stat().st_size / 1e6
    core = "with" if "crawlmill-native" in packages else "without"
    print(f"{options.output}: {size:.0f} MB, for CPython {python} on machines like this one, {core} the native core")
    return 0


def get_wheels(home: Path, wheels: Path, *what: str | Path) -> int:
    """Bring packages as wheels into a folder, built where there are none; returns pip's exit code."""
    return run(home / "bin" / "pip", "wheel", "-q", "--disable-pip-version-check", "--wheel-dir", wheels, *what)


def listed(text: str) -> list[str]:
    """The lines of a list in setup.cfg."""
    return [line for line in text.splitlines() if line]


def run(*command: str | Path) -> int:
    """Run a command; returns its exit code."""
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode


def complain(what: str) -> int:
    """Print an error; returns the exit code."""
    sys.stderr.write(f"pex: {what}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
