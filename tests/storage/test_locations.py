"""Locations: absolute, canonical, redacted."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlmill.errors import SourceError
from crawlmill.storage.locations import (
    absolute,
    canonical,
    current,
    is_pipe,
    is_remote,
    join,
    local_path,
    redact,
    scheme_of,
    without_slashes,
)


@pytest.mark.parametrize(
    ("location", "scheme"),
    [
        ("/data/x.gz", "file"),
        ("x.gz", "file"),
        ("a:b/c", "file"),
        ("FILE:///x", "file"),
        ("file:/x", "file"),
        ("S3://b/k", "s3"),
        ("https://h/x", "https"),
        ("hdfs:///x", "hdfs"),
        ("ftp://h/x", "ftp"),
        ("x/http://y", "file"),
    ],
)
def test_scheme_of_location_is_found(location: str, scheme: str) -> None:
    assert scheme_of(location) == scheme
    assert is_remote(location) == (scheme != "file")


@pytest.mark.parametrize(
    ("location", "path"),
    [
        ("/a b/ü%20.gz", "/a b/ü%20.gz"),
        ("file:///a%20b/%C3%BC%2520.gz", "/a b/ü%20.gz"),
        ("file://localhost/a%20b", "/a b"),
        ("file:/a", "/a"),
        ("file:///a+b?c#d", "/a+b?c#d"),
        ("file:///%FF", os.fsdecode(b"/\xff")),
        ("rel/x", "rel/x"),
    ],
)
def test_local_path_of_plain_and_uri_forms(location: str, path: str) -> None:
    assert local_path(location) == Path(path)


@pytest.mark.parametrize("location", ["file://host/x", "/a\0b", "file:///a%00b"])
def test_local_path_that_cannot_be_is_not_found(location: str) -> None:
    with pytest.raises(SourceError) as caught:
        local_path(location)
    assert caught.value.reason == "not-found"


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1))
def test_local_path_of_a_uri_made_by_pathlib_is_the_path(name: str) -> None:
    if name not in (".", ".."):
        assert local_path(Path(f"/x/{name}").as_uri()) == Path(f"/x/{name}")


@pytest.mark.parametrize(
    ("location", "base", "wanted"),
    [
        ("crawl-data/x.gz", "https://data.commoncrawl.org/", "https://data.commoncrawl.org/crawl-data/x.gz"),
        ("crawl-data/x.gz", "https://data.commoncrawl.org", "https://data.commoncrawl.org/crawl-data/x.gz"),
        ("crawl-data/x.gz", "s3://commoncrawl/", "s3://commoncrawl/crawl-data/x.gz"),
        ("a b#ü%20%", "http://h/p/", "http://h/p/a%20b%23%C3%BC%20%25"),
        ("x?a=1&b=2", "http://h/", "http://h/x?a=1&b=2"),
        ("caf\udce9", "http://h/", "http://h/caf%E9"),
        ("a b", "s3://b/p", "s3://b/p/a b"),
        ("a b", "hdfs://n:8020/p/", "hdfs://n:8020/p/a b"),
        ("x", "hdfs:///", "hdfs:///x"),
        ("a b", "file:///q%20r/", "file:///q%20r/a%20b"),
        ("a b", "/q r", "/q r/a b"),
        ("/abs", "s3://b/", "/abs"),
        ("a b", "hf://buckets/o/n/", "https://huggingface.co/buckets/o/n/resolve/a%20b"),
        ("http://o/x", "s3://b/", "http://o/x"),
        ("s3://aws-publicdatasets/common-crawl/parse-output/x", "/", "s3://commoncrawl/parse-output/x"),
        (
            "2010/01/06/10/1_10.arc.gz",
            "s3://commoncrawl-crawl-002/",
            "s3://commoncrawl/crawl-002/2010/01/06/10/1_10.arc.gz",
        ),
    ],
)
def test_absolute_resolves_against_the_base(location: str, base: str, wanted: str) -> None:
    assert absolute(location, base) == wanted


@pytest.mark.parametrize(
    ("former", "today"),
    [
        ("s3n://b/k", "s3://b/k"),
        ("S3A://b/k", "s3://b/k"),
        ("s3a://aws-publicdatasets/common-crawl/x", "s3://commoncrawl/x"),
        ("s3://aws-publicdatasets/other/x", "s3://aws-publicdatasets/other/x"),
        ("s3://commoncrawl-crawl-002/x", "s3://commoncrawl/crawl-002/x"),
        ("/s3://b", "/s3://b"),
        ("hf://buckets/o/n", "https://huggingface.co/buckets/o/n/resolve"),
        ("hf://buckets/o/n/crawl-data/a b", "https://huggingface.co/buckets/o/n/resolve/crawl-data/a%20b"),
        ("hf://datasets/o/n/x", "https://huggingface.co/datasets/o/n/resolve/main/x"),
        ("hf://datasets/o/n@refs%2Fpr/x", "https://huggingface.co/datasets/o/n/resolve/refs%252Fpr/x"),
        ("hf://datasets/o/n@v1/x", "https://huggingface.co/datasets/o/n/resolve/v1/x"),
        ("hf://models/o/n/x", "hf://models/o/n/x"),
    ],
)
def test_current_rewrites_former_names(former: str, today: str) -> None:
    assert current(former) == today


def test_canonical_is_one_for_plain_and_uri_forms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a ü"
    monkeypatch.chdir(tmp_path)
    for foreign in ("file://otherhost/x", "/a\0b"):
        assert canonical(foreign) == foreign
    assert canonical(str(path)) == canonical(path.as_uri()) == canonical("a ü") == canonical(f"{tmp_path}/./x/../a ü")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("HTTP://Host:80/a?b", "http://host/a?b", True),
        ("https://h:443", "https://h/", True),
        ("https://h/a#x", "https://h/a", True),
        ("http://h/A", "http://h/a", False),
        ("http://h/a", "https://h/a", False),
        ("http://h:8080/", "http://h/", False),
        ("s3n://b/k", "s3://b/k", True),
        ("s3://b/K", "s3://b/k", False),
        ("http://u:P@h/", "http://U:p@h/", False),
    ],
)
def test_canonical_tells_locations_apart(one: str, other: str, same: bool) -> None:
    assert (canonical(one) == canonical(other)) == same


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://u:p@h/x", "https://…@h/x"),
        ("https://u%40:p@h:8/x?a=1", "https://…@h:8/x?a=1"),
        (
            "https://h/x?a=1&X-Amz-Signature=s&X-Amz-Credential=c&b=2",
            "https://h/x?a=1&X-Amz-Signature=…&X-Amz-Credential=…&b=2",
        ),
        (
            "https://h/x?Expires=1&Signature=a/b&Key-Pair-Id=K&Policy=e",
            "https://h/x?Expires=…&Signature=…&Key-Pair-Id=…&Policy=…",
        ),
        ("https://h/x?TOKEN=1", "https://h/x?TOKEN=…"),
        ("https://h/x?access_token=1;sig=2", "https://h/x?access_token=…;sig=…"),
        ("https://h/x?%53ignature=1", "https://h/x?%53ignature=…"),
        ("https://h/x#token=1", "https://h/x#token=…"),
        ("hdfs://u:p@h/x?token=1", "hdfs://…@h/x?token=…"),
        ("https://h/x?url=org,commoncrawl)/&page=3", "https://h/x?url=org,commoncrawl)/&page=3"),
        ("/local/x?token=1", "/local/x?token=1"),
        ("file:///x?token=1", "file:///x?token=1"),
        ("s3://bucket/key", "s3://bucket/key"),
        ("https://h", "https://h"),
        ("https://h?sig=", "https://h?sig=…"),
        ("https://user:hunt/er2@h:1/x", "https://…@h:1/x"),
        ("https://user:hun?t#er2@h/x?sig=1", "https://…@h/x?sig=…"),
        ("https://user:hu/n@ter2@h/x", "https://…@h/x"),
        ("https://h:80/a@b", "https://h:80/a@b"),
        ("https://[::1]:80/a@b", "https://[::1]:80/a@b"),
    ],
)
def test_redact_hides_secrets_and_nothing_else(location: str, shown: str) -> None:
    assert redact(location) == shown
    assert redact(shown) == shown


@pytest.mark.parametrize(
    "folder", ["/a/b", "/a/b/", "file:///a/b", "s3://a/b", "s3://a/b/", "http://a/b/", "hdfs://a/b"]
)
def test_join_adds_one_slash(folder: str) -> None:
    assert join(folder, "part-00000") == f"{folder.rstrip('/')}/part-00000"


@pytest.mark.parametrize(
    ("location", "wanted"),
    [
        ("a/b//", "a/b"),
        ("/", "/"),
        ("//", "/"),
        ("", ""),
        ("s3://b/out/", "s3://b/out"),
        ("s3://b/", "s3://b"),
        ("s3://", "s3://"),
        ("s3:///", "s3:///"),
        ("hdfs:///", "hdfs:///"),
        ("file:///", "file:///"),
        ("file:///a/", "file:///a"),
    ],
)
def test_slashes_at_the_end_are_left_out_but_not_those_of_a_scheme_or_a_root(location: str, wanted: str) -> None:
    assert without_slashes(location) == wanted


@given(st.text(), st.sampled_from(["", "http://", "https://", "s3://", "hdfs://", "x"]))
def test_any_text_can_be_shown_and_compared(text: str, scheme: str) -> None:
    location = scheme + text.replace("\0", "")
    if not location.lower().startswith("file:"):
        redact(location)
        assert canonical(canonical(location)) == canonical(location)


def is_pipe_for_a_child(location, **streams):
    """What `is_pipe` says of a location in a process with these standard streams."""
    code = f"from crawlmill.storage.locations import is_pipe\nprint(is_pipe({location!r}))"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, **streams).stdout


@pytest.mark.parametrize("location", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "file:///dev/stdin"])
def test_stdin_is_a_pipe_also_where_a_file_is_redirected_to_it(location):
    if location.startswith("/proc") and not Path("/proc/self/fd").is_dir():
        pytest.skip("this system has no /proc")
    assert is_pipe_for_a_child(location, input="x") == "True\n"
    with Path(__file__).open() as file:
        assert is_pipe_for_a_child(location, stdin=file) == "True\n"


def test_pipes_with_names_and_devices_are_pipes_and_files_are_not_wherever_they_are(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "file").touch()
    assert is_pipe(str(tmp_path / "fifo"))
    assert is_pipe((tmp_path / "fifo").as_uri())
    assert is_pipe("/dev/null")
    for no_pipe in (
        tmp_path / "file",
        tmp_path,
        tmp_path / "missing",
        "https://e.org/dev/fd/0",
        "file://host/dev/fd/0",
    ):
        assert not is_pipe(str(no_pipe))


@pytest.mark.skipif(not os.access("/dev/shm", os.W_OK), reason="this system has no /dev/shm")
def test_a_file_in_shared_memory_is_no_pipe():
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        assert not is_pipe(file.name)
