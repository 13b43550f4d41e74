"""Finds the HTTP addresses of a cluster's NameNodes in `core-site.xml` and `hdfs-site.xml`.

`yarn-site.xml` is read too, for callers that use YARN. The files are searched for in `HADOOP_CONF_DIR`,
`HADOOP_HOME/etc/hadoop` and `/etc/hadoop/conf`. These properties are used: `fs.defaultFS` (formerly `fs.default.name`),
`dfs.http.policy`, `dfs.namenode.http-address` and `-https-address`, with `dfs.ha.namenodes.NS` and a suffix `.NS.NN`
for a name service of several NameNodes, and `hadoop.security.authentication`. `${name}` is replaced by another property
or an environment variable; XInclude is not followed.
"""

from __future__ import annotations

import getpass
import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from crawlmill.errors import UsageError

__all__ = ["default_filesystem", "hdfs_user", "namenode_urls", "read_hadoop_conf", "user_name", "wants_kerberos"]

_DEFAULT_PORTS = {"http": 9870, "https": 9871}  # the defaults of Hadoop 3
_VARIABLE = re.compile(r"\$\{([^}$]+)\}")


def read_hadoop_conf(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The properties in the first configuration folder that exists; empty if there is none.

    Raises: UsageError: A file is not XML.
    """
    folders = [environ.get("HADOOP_CONF_DIR", "")]
    folders += [f"{environ['HADOOP_HOME']}/etc/hadoop"] if environ.get("HADOOP_HOME") else []
    folder = next((Path(name) for name in [*folders, "/etc/hadoop/conf"] if name and Path(name).is_dir()), None)
    found: dict[str, str] = {}
    for name in ("core-site.xml", "hdfs-site.xml", "yarn-site.xml"):
        if folder is None or not (folder / name).is_file():
            continue
        try:
            root = ET.parse(folder / name).getroot()  # noqa: S314 (the administrator's own file)
        except (ET.ParseError, OSError) as error:
            raise UsageError(f"the Hadoop configuration cannot be read: {error}", source=str(folder / name)) from error
        for entry in root.iter("property"):
            found[(entry.findtext("name") or "").strip()] = (entry.findtext("value") or "").strip()
    for key, value in found.items():
        for _ in range(20):  # Hadoop's own limit of nesting
            replaced = _VARIABLE.sub(lambda m: found.get(m[1], environ.get(m[1].removeprefix("env."), m[0])), value)
            if replaced == value:
                break
            found[key] = value = replaced
    return found


def user_name() -> str | None:
    """The user name for HDFS: `HADOOP_USER_NAME`, or the login name; None if there is neither."""
    try:
        return os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
    except (KeyError, OSError):  # a user without an entry in passwd, as in some containers
        return None


def hdfs_user() -> str:
    """The user who owns our folders on HDFS: `user_name`.

    Raises:
        UsageError: There is no name. Java would not find one either, and could run neither Hadoop's clients nor Spark.
    """
    if name := user_name():
        return name
    raise UsageError(
        f"user {os.geteuid()} has no name on this machine, without which neither Hadoop nor Spark runs: add an entry "
        "to passwd"
    )


def default_filesystem(conf: Mapping[str, str]) -> str:
    """The authority (`host:port` or a name service) used for `hdfs:///path`. Raises: UsageError."""
    filesystem = conf.get("fs.defaultFS") or conf.get("fs.default.name") or ""
    if not filesystem.startswith("hdfs://"):
        raise UsageError(
            "hdfs:///… needs a cluster: set HADOOP_CONF_DIR, or give --webhdfs URL or a host in the location"
        )
    return urlsplit(filesystem).netloc


def wants_kerberos(conf: Mapping[str, str]) -> bool:
    """Whether the cluster requires Kerberos tickets."""
    return conf.get("hadoop.security.authentication", "").lower() == "kerberos"


def namenode_urls(authority: str, conf: Mapping[str, str]) -> list[str]:
    """The HTTP addresses of an authority's NameNodes, in the order to try them."""
    scheme = "https" if conf.get("dfs.http.policy", "").upper() == "HTTPS_ONLY" else "http"
    key = f"dfs.namenode.{scheme}-address"
    if nodes := conf.get(f"dfs.ha.namenodes.{authority}"):
        names = [f"{authority}.{node.strip()}" for node in nodes.split(",")]
        found = [
            _url(scheme, conf.get(f"{key}.{name}"), conf.get(f"dfs.namenode.rpc-address.{name}", "")) for name in names
        ]
        return [url for url in found if url]
    ours = {conf.get("dfs.namenode.rpc-address", ""), urlsplit(conf.get("fs.defaultFS", "")).netloc}
    stated = conf.get(f"{key}.{authority}") or (conf.get(key) if authority in ours else None)
    return [url for url in [_url(scheme, stated, authority)] if url]


def _url(scheme: str, address: str | None, rpc_address: str) -> str | None:
    """The URL for an address; without a host in it, or without an address, the host of the RPC address is used."""
    host, _, port = (address or "").rpartition(":")
    if host in ("", "0.0.0.0", "[::]"):  # noqa: S104 (compared, not bound)
        host = rpc_address.rpartition(":")[0] or rpc_address
    return f"{scheme}://{host}:{port or _DEFAULT_PORTS[scheme]}" if host else None
