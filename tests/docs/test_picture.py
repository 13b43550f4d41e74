"""The picture in the README is what its commands print, and what the README shows as text."""

from __future__ import annotations

import importlib.util
import re
import xml.etree.ElementTree as ET

from tests.docs.pages import PROJECT, blocks, matches
from tests.docs.test_shown_commands import sample, usual_zlib  # noqa: F401

SVG = "{http://www.w3.org/2000/svg}"


def record_run():
    spec = importlib.util.spec_from_file_location("record_run", PROJECT / "tools" / "record_run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shown(svg):
    """The commands of a picture, each with the lines below it."""
    commands = {}
    for text in ET.fromstring(svg).iter(f"{SVG}text"):
        line = "".join(text.itertext())
        if line.startswith("$ "):
            printed = commands[line[2:]] = []
        else:
            printed.append(line)
    return commands


def test_picture_shows_what_the_readme_shows():
    readme = PROJECT / "README.md"
    told = dict(pair for block in blocks(readme) if block.kind == "console" for pair in block.commands())
    picture = shown((PROJECT / "docs" / "run.svg").read_text(encoding="utf-8"))
    assert list(picture) == list(record_run().COMMANDS)
    for command, printed in picture.items():
        assert matches(told[command], "\n".join(printed)), command
    assert "](docs/run.svg)" in readme.read_text(encoding="utf-8")


def test_picture_fits_its_frame():
    root = ET.fromstring((PROJECT / "docs" / "run.svg").read_text(encoding="utf-8"))
    width, height = (float(root.get(name)) for name in ("width", "height"))
    assert root.tag == f"{SVG}svg"
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"
    rows = [(float(span.get("x")), float(span.get("y")), span.text or "") for span in root.iter(f"{SVG}tspan")]
    assert [y for _, y, _ in rows] == sorted({y for _, y, _ in rows})
    assert max(y for _, y, _ in rows) < height
    assert all(x + len(text) * 8 <= width for x, _, text in rows)


@usual_zlib
def test_picture_is_of_what_the_commands_print_today(sample):  # noqa: F811
    def without_times(svg):
        return re.sub(r"read in [\d.]+ \w+", "read in … s", svg)

    recorded = (PROJECT / "docs" / "run.svg").read_text(encoding="utf-8")
    assert without_times(record_run().record(sample)) == without_times(recorded)


def test_long_lines_wrap_and_markup_is_escaped():
    module = record_run()
    line = "<&" * 75
    root = ET.fromstring(module.svg(["$ echo", line]))
    command, printed = root.iter(f"{SVG}text")
    assert (command.get("class"), printed.get("class")) == ("command", None)
    assert [len(span.text) for span in printed] == [100, 50]
    assert "".join(printed.itertext()) == line


def test_each_picture_of_a_report_is_shown_behind_the_commands_that_make_it():
    spec = importlib.util.spec_from_file_location("report_pictures", PROJECT / "tools" / "report_pictures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    shown = {}
    for page in sorted((PROJECT / "docs").glob("*.md")):
        shown |= module.pictures_of(page)
    assert shown.keys() == {path.stem for path in module.PICTURES.iterdir()}
    for name, commands in shown.items():
        assert re.fullmatch(r"crawlmill report [\w-]+", commands[-1]), name
        image = (module.PICTURES / f"{name}.png").read_bytes()
        assert image[:8] == b"\x89PNG\r\n\x1a\n"
        assert [int.from_bytes(image[at : at + 4], "big") for at in (16, 20)] == [module.WIDTH, module.HEIGHT]
