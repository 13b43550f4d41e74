"""What is special about HDFS: finding the NameNode, several of them, users, refusals, writing by rename."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawlmill.errors import SourceError, UsageError
from crawlmill.storage.hdfs.conf import default_filesystem, namenode_urls, read_hadoop_conf
from tests.storage.webhdfs import WebHdfs

DATA = random.Random(3).randbytes(100_000)


@pytest.fixture
def cluster() -> Iterator[WebHdfs]:
    with WebHdfs() as server:
        server.files["/d/x"] = DATA
        yield server


def reason(run) -> tuple[str, str]:
    with pytest.raises(SourceError) as caught:
        run()
    return str(caught.value.reason), str(caught.value)


def site(folder: Path, **files: dict[str, str]) -> None:
    for name, properties in files.items():
        entries = "".join(f"<property><name>{n}</name><value>{v}</value></property>" for n, v in properties.items())
        (folder / f"{name}-site.xml").write_text(f'<?xml version="1.0"?><configuration>{entries}</configuration>')


@pytest.mark.parametrize(
    ("authority", "hdfs", "urls"),
    [
        ("nn:8020", {}, ["http://nn:9870"]),
        ("nn", {}, ["http://nn:9870"]),
        ("nn:8020", {"dfs.namenode.http-address": "web:50070"}, ["http://web:50070"]),
        ("nn:8020", {"dfs.namenode.http-address": "0.0.0.0:50070"}, ["http://nn:50070"]),
        ("other:8020", {"dfs.namenode.http-address": "web:50070"}, ["http://other:9870"]),
        ("nn:8020", {"dfs.http.policy": "HTTPS_ONLY", "dfs.namenode.https-address": "web:1"}, ["https://web:1"]),
        ("nn:8020", {"dfs.http.policy": "HTTPS_ONLY"}, ["https://nn:9871"]),
        (
            "ns",
            {
                "dfs.ha.namenodes.ns": "a, b",
                "dfs.namenode.http-address.ns.a": "h1:1",
                "dfs.namenode.http-address.ns.b": "h2:2",
            },
            ["http://h1:1", "http://h2:2"],
        ),
        ("ns", {"dfs.ha.namenodes.ns": "a", "dfs.namenode.rpc-address.ns.a": "h1:8020"}, ["http://h1:9870"]),
    ],
)
def test_namenodes_are_those_of_the_configuration(authority: str, hdfs: dict, urls: list) -> None:
    assert namenode_urls(authority, {"fs.defaultFS": "hdfs://nn:8020", **hdfs}) == urls


def test_configuration_is_read_with_its_variables(tmp_path: Path) -> None:
    site(tmp_path, core={"fs.defaultFS": "hdfs://${host}:8020", "host": "${env.NN}"}, hdfs={"x": "${unknown}"})
    conf = read_hadoop_conf({"HADOOP_CONF_DIR": str(tmp_path), "NN": "nn1"})
    assert conf == {"fs.defaultFS": "hdfs://nn1:8020", "host": "nn1", "x": "${unknown}"}
    assert default_filesystem(conf) == "nn1:8020"


def test_configuration_of_hadoop_home_is_found(tmp_path: Path) -> None:
    (tmp_path / "etc/hadoop").mkdir(parents=True)
    site(tmp_path / "etc/hadoop", core={"fs.default.name": "hdfs://old:9000"})
    assert default_filesystem(read_hadoop_conf({"HADOOP_HOME": str(tmp_path)})) == "old:9000"


def test_configuration_that_is_no_xml_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "core-site.xml").write_text("<configuration>")
    with pytest.raises(UsageError, match=r"core-site\.xml"):
        read_hadoop_conf({"HADOOP_CONF_DIR": str(tmp_path)})


def test_cluster_that_nothing_names_is_unavailable(storage_with) -> None:
    with pytest.raises(SourceError, match=r"HADOOP_CONF_DIR.*\(hdfs:///x\)") as caught:
        storage_with().open_stream("hdfs:///x")
    assert caught.value.reason == "unavailable"


def test_default_cluster_is_that_of_the_configuration(storage_with, cluster, tmp_path, monkeypatch) -> None:
    address = cluster.url.removeprefix("http://")
    site(tmp_path, core={"fs.defaultFS": "hdfs://nn:8020"}, hdfs={"dfs.namenode.http-address": address})
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    assert storage_with().read_range("hdfs:///d/x", 5, 10) == DATA[5:15]
    assert storage_with().read_range("hdfs://nn:8020/d/x", 5, 10) == DATA[5:15]


def test_webhdfs_url_may_end_in_any_way(storage_with, cluster) -> None:
    for end in ("", "/", "/webhdfs/v1", "/webhdfs/v1/"):
        assert storage_with(webhdfs=cluster.url + end).size_of("hdfs://any/d/x") == len(DATA)


def test_standby_is_passed_over_and_remembered(storage_with, cluster, tmp_path, monkeypatch, clock) -> None:
    with WebHdfs(standby=True) as standby:
        names = {f"dfs.namenode.http-address.ns.{n}": s.url[7:] for n, s in (("a", standby), ("b", cluster))}
        site(tmp_path, core={"fs.defaultFS": "hdfs://ns"}, hdfs={"dfs.ha.namenodes.ns": "a,b", **names})
        monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
        storage = storage_with()
        for _ in range(3):
            assert storage.size_of("hdfs:///d/x") == len(DATA)
        assert len(standby.operations) == 1
        cluster.standby = True
        assert reason(lambda: storage.size_of("hdfs://ns/d/x"))[0] == "unavailable"
        assert len(standby.operations) == 1 + 9
    assert clock.waits == [0.5, 1, 2, 4, 8, 16, 20, 20]


def test_namenode_that_is_down_is_passed_over(storage_with, cluster, tmp_path, monkeypatch, clock) -> None:
    names = {"dfs.namenode.http-address.ns.a": "127.0.0.1:9", "dfs.namenode.http-address.ns.b": cluster.url[7:]}
    site(tmp_path, hdfs={"dfs.ha.namenodes.ns": "a,b", **names})
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    assert storage_with().size_of("hdfs://ns/d/x") == len(DATA)
    assert clock.waits == []


def test_broken_body_is_resumed(storage_with, cluster, clock) -> None:
    cluster.cuts = [60_000, 0, 5000]
    with storage_with(webhdfs=cluster.url).open_stream("hdfs://n/d/x") as stream:
        assert stream.read() == DATA
    assert clock.waits == [0.5, 1, 0.5]


def test_changed_file_is_changed(storage_with, cluster) -> None:
    cluster.cuts = [60_000]
    with storage_with(webhdfs=cluster.url).open_stream("hdfs://n/d/x") as stream:
        found = len(stream.read(1 << 20))
        cluster.changed += 1
        assert reason(lambda: [stream.read(1 << 20) for _ in range(99)])[0] == "changed"
    assert found <= 60_000


@pytest.mark.parametrize(
    ("status", "exception", "result"),
    [
        (403, "AccessControlException", "denied"),
        (401, "SecurityException", "denied"),
        (404, "FileNotFoundException", "not-found"),
        (400, "IllegalArgumentException", "unavailable"),
    ],
)
def test_refusal_gives_the_reason_at_once(
    storage_with, cluster, clock, status: int, exception: str, result: str
) -> None:
    cluster.refusals = [(status, exception)]
    assert reason(lambda: storage_with(webhdfs=cluster.url).size_of("hdfs://n/d/x"))[0] == result
    assert clock.waits == []


@pytest.mark.parametrize(
    ("status", "exception"), [(403, "RetriableException"), (403, "SafeModeException"), (500, "IOException"), (503, "X")]
)
def test_refusal_that_passes_is_asked_again(storage_with, cluster, status: int, exception: str) -> None:
    cluster.refusals = [(status, exception)]
    assert storage_with(webhdfs=cluster.url).size_of("hdfs://n/d/x") == len(DATA)


def test_cluster_that_wants_kerberos_is_denied_and_says_what_to_do(storage_with, cluster) -> None:
    cluster.webhdfs = cluster.handle = lambda http, _: cluster.reply(
        http, 401, b"<html>", {"WWW-Authenticate": "Negotiate"}
    )
    result, message = reason(lambda: storage_with(webhdfs=cluster.url).size_of("hdfs://n/d/x"))
    assert result == "denied"
    assert "hadoop fs" in message


def test_folder_is_no_file(storage_with, cluster) -> None:
    cluster.folders.add("/d")
    assert reason(lambda: storage_with(webhdfs=cluster.url).open_stream("hdfs://n/d"))[0] == "not-found"


def test_user_is_the_one_of_the_environment(storage_with, cluster, monkeypatch) -> None:
    cluster.user = "alice"
    monkeypatch.setenv("HADOOP_USER_NAME", "bob")
    assert reason(lambda: storage_with(webhdfs=cluster.url).size_of("hdfs://n/d/x"))[0] == "denied"
    monkeypatch.setenv("HADOOP_USER_NAME", "alice")
    assert storage_with(webhdfs=cluster.url).size_of("hdfs://n/d/x") == len(DATA)


def test_write_renames_over_the_target(storage_with, cluster) -> None:
    with storage_with(webhdfs=cluster.url).write("hdfs://n/d/x") as file:
        file.write(b"new")
        assert cluster.operations == []
    assert cluster.operations == ["CREATE", "DATA CREATE", "RENAME"]
    assert cluster.files == {"/d/x": b"new"}


def test_write_that_is_refused_leaves_nothing(storage_with, cluster) -> None:
    storage = storage_with(webhdfs=cluster.url, retries=0)
    cluster.refusals = [(403, "AccessControlException")]
    with pytest.raises(SourceError), storage.write("hdfs://n/d/y"):
        pass
    create = cluster.create

    def create_and_fail(http, path, asked, body) -> bool:
        create(http, path, asked, body)
        cluster.refusals = [(500, "IOException")]
        return True

    cluster.create = create_and_fail
    with pytest.raises(SourceError), storage.write("hdfs://n/d/y"):
        pass
    assert list(cluster.files) == ["/d/x"]


def test_write_is_tried_again_from_the_start(storage_with, cluster) -> None:
    cluster.refusals = [(503, "X")]
    with storage_with(webhdfs=cluster.url).write("hdfs://n/d/x") as file:
        file.write(DATA[:5000])
    assert cluster.files == {"/d/x": DATA[:5000]}


def test_rename_whose_answer_was_lost_is_done(storage_with, cluster) -> None:
    rename = cluster.rename

    def rename_and_say_no(http, path, asked, body) -> bool:
        class Nobody:
            def __getattr__(self, name: str):
                return lambda *_: None

        cluster.rename = rename
        rename(type("Http", (), {"wfile": Nobody(), "__getattr__": lambda s, n: lambda *_: None})(), path, asked, body)
        return cluster.reject(http, 500, "IOException")

    cluster.rename = rename_and_say_no
    with storage_with(webhdfs=cluster.url).write("hdfs://n/d/x") as file:
        file.write(b"new")
    assert cluster.files == {"/d/x": b"new"}


def test_whole_file_system_is_not_removed(storage_with, cluster) -> None:
    with pytest.raises(UsageError):
        storage_with(webhdfs=cluster.url).remove("hdfs://n/")
    assert cluster.operations == []


def test_answer_that_is_no_json_is_unavailable(storage_with, cluster) -> None:
    cluster.handle = lambda http, _: cluster.reply(http, 200, b"<html>")
    assert reason(lambda: storage_with(webhdfs=cluster.url).size_of("hdfs://n/d/x"))[0] == "unavailable"


def test_folders_within_folders_without_end_are_given_up_on(storage_with, cluster) -> None:
    entries = [{"pathSuffix": name, "type": "DIRECTORY"} for name in "ab"]
    cluster.handle = lambda http, _: cluster.json(http, {"FileStatuses": {"FileStatus": entries}})
    found = reason(lambda: list(storage_with(webhdfs=cluster.url).list("hdfs:///d")))
    assert found[0] == "unavailable"
    assert "without end" in found[1]
    assert len(cluster.seen) <= 1002
