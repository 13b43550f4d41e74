"""The configuration of a Hadoop on one small machine: every file that its daemons, clients and tasks read.

Sized for two cores and 8 GB of memory: three tasks beside the application's master, heaps of 200 to 300 MB, heartbeats
four times a second. All addresses are on loopback, with ports that were free. Deviations from a usual cluster:

* no history server and no log aggregation: the logs of tasks stay in `data/userlogs` until the cluster is stopped;
* the NodeManager recovers its containers when it is started again (without that, a job whose maps it held fails);
* permissions are off, and whoever says so is any user.
"""

from __future__ import annotations

import errno
import getpass
import os
import socket
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final
from xml.sax.saxutils import escape

__all__ = ["JAVA_OPTIONS", "free_ports", "write_java_options", "write_settings"]

JAVA_OPTIONS: Final = "etc/hadoop/java.options"
"""The file with what all processes tell Java, as `java @FILE`, below the home of the cluster."""

_PORTS = range(10_000, 32_000)
_PORTS_APART = 16
_JVM = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Djava.net.preferIPv4Stack=true",
    "-XX:+IgnoreUnrecognizedVMOptions",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
)
_EXECUTOR = "org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor"
_WEBAPPS = ("hdfs", "datanode", "secondary", "static")
_LOG4J = """\
log4j.rootLogger=INFO,console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.target=System.err
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d{yyyy-MM-dd HH:mm:ss,SSS} %p %c{2}: %m%n
log4j.logger.org.apache.hadoop.util.NativeCodeLoader=ERROR
"""
_HADOOP = """\
#!/bin/sh
# `hadoop` as far as jobs use it: the classes behind its commands.
home=$(cd "$(dirname "$0")/.." && pwd) || exit 1
conf=${HADOOP_CONF_DIR:-$home/etc/hadoop}
command=$1
[ $# -gt 0 ] && shift
case $command in
    version) class=org.apache.hadoop.util.VersionInfo ;;
    fs) class=org.apache.hadoop.fs.FsShell ;;
    jar) class=org.apache.hadoop.util.RunJar ;;
    job) class=org.apache.hadoop.mapred.JobClient ;;
    classpath) echo "$conf:$home/lib/*"; exit ;;
    *) echo "usage: hadoop version|fs|jar|job|classpath" >&2; exit 1 ;;
esac
exec "@JAVA@" -Xmx256m "@$home/@OPTIONS@" $HADOOP_CLIENT_OPTS \\
    -cp "@JARS@/*:$conf${HADOOP_CLASSPATH:+:$HADOOP_CLASSPATH}" "$class" "$@"
"""

Properties = dict[str, object]


def free_ports(count: int) -> list[int]:
    """The numbers of `count` ports that are not in use.

    They are below those that systems hand out on their own, and each process looks for them in a place of its own: a
    daemon takes its port only seconds later, and until then neither a client nor another cluster should have it.
    """
    ports = range(_PORTS.start + os.getpid() * _PORTS_APART % len(_PORTS), _PORTS.stop)
    found: list[int] = []
    for port in chain(ports, _PORTS):
        with socket.socket() as each, suppress(OSError):
            each.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise OSError(errno.EADDRINUSE, f"not even {count} ports are free from {_PORTS.start} to {_PORTS.stop - 1}")


def write_settings(home: Path, java: Path, jars: Path) -> dict[str, str]:
    """Write `etc/hadoop` and `bin/hadoop` in `home`; returns the addresses of the web interfaces by daemon."""
    conf, data = home / "etc/hadoop", home / "data"
    addresses = iter([f"127.0.0.1:{port}" for port in free_ports(14)])
    core, hdfs = _core(data, next(addresses)), _hdfs(data, *(next(addresses) for _ in range(4)))
    yarn = _yarn(home, data, *(next(addresses) for _ in range(8)))
    mapred = _mapred(home, jars, next(addresses).rpartition(":")[2])
    conf.mkdir(parents=True, exist_ok=True)
    for name, properties in (("core", core), ("hdfs", hdfs), ("yarn", yarn), ("mapred", mapred)):
        (conf / f"{name}-site.xml").write_text(_xml(properties), encoding="utf-8")
    (conf / "capacity-scheduler.xml").write_text(_xml(_SCHEDULER), encoding="utf-8")
    (conf / "log4j.properties").write_text(_LOG4J, encoding="utf-8")
    for name in _WEBAPPS:  # HDFS does not start without the folders of its web pages, which no jar contains
        page = conf / "webapps" / name / "WEB-INF" / "web.xml"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text("<web-app/>\n", encoding="utf-8")
    command = home / "bin" / "hadoop"
    command.parent.mkdir(exist_ok=True)
    written = _HADOOP.replace("@JAVA@", str(java)).replace("@OPTIONS@", JAVA_OPTIONS).replace("@JARS@", str(jars))
    command.write_text(written, encoding="utf-8")
    command.chmod(0o755)
    return {
        "namenode": str(hdfs["dfs.namenode.http-address"]),
        "resourcemanager": str(yarn["yarn.resourcemanager.webapp.address"]),
    }


def write_java_options(home: Path, *more: str) -> None:
    """Write the file of options that every Java machine of the cluster is started with from now on."""
    (home / JAVA_OPTIONS).write_text("".join(f"{option}\n" for option in (*_JVM, *more)), encoding="utf-8")


def _core(data: Path, namenode: str) -> Properties:
    return {
        "fs.defaultFS": f"hdfs://{namenode}",
        "hadoop.tmp.dir": data / "tmp",
        "hadoop.http.staticuser.user": getpass.getuser(),
    }


def _hdfs(data: Path, namenode_web: str, datanode: str, datanode_web: str, datanode_ipc: str) -> Properties:
    return {
        "dfs.replication": 1,
        "dfs.permissions.enabled": "false",
        "dfs.namenode.name.dir": f"file://{data}/namenode",
        "dfs.namenode.http-address": namenode_web,
        "dfs.namenode.datanode.registration.ip-hostname-check": "false",
        "dfs.namenode.safemode.extension": 0,
        "dfs.datanode.data.dir": f"file://{data}/datanode",
        "dfs.datanode.hostname": "127.0.0.1",
        "dfs.datanode.address": datanode,
        "dfs.datanode.http.address": datanode_web,
        "dfs.datanode.ipc.address": datanode_ipc,
        "dfs.client.block.write.replace-datanode-on-failure.enable": "false",
    }


def _yarn(home: Path, data: Path, *addresses: str) -> Properties:
    manager, scheduler, tracker, admin, manager_web, node, localizer, node_web = addresses
    return {
        "yarn.resourcemanager.hostname": "127.0.0.1",
        "yarn.resourcemanager.address": manager,
        "yarn.resourcemanager.scheduler.address": scheduler,
        "yarn.resourcemanager.resource-tracker.address": tracker,
        "yarn.resourcemanager.admin.address": admin,
        "yarn.resourcemanager.webapp.address": manager_web,
        "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": 250,
        "yarn.nodemanager.hostname": "127.0.0.1",
        "yarn.nodemanager.address": node,  # must not change, or recovery fails
        "yarn.nodemanager.localizer.address": localizer,
        "yarn.nodemanager.webapp.address": node_web,
        "yarn.nodemanager.aux-services": "mapreduce_shuffle",
        "yarn.nodemanager.container-executor.class": _EXECUTOR,
        "yarn.nodemanager.local-dirs": data / "containers",
        "yarn.nodemanager.log-dirs": data / "userlogs",
        "yarn.nodemanager.recovery.enabled": "true",
        "yarn.nodemanager.recovery.dir": data / "recovery",
        "yarn.node-attribute.fs-store.root-dir": f"file://{data}/node-attribute",
        "yarn.nodemanager.resource.memory-mb": 2048,
        "yarn.nodemanager.resource.cpu-vcores": 4,
        "yarn.nodemanager.vmem-check-enabled": "false",
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage": 99.5,
        "yarn.nodemanager.disk-health-checker.min-free-space-per-disk-mb": 256,
        "yarn.scheduler.minimum-allocation-mb": 256,
        "yarn.scheduler.maximum-allocation-mb": 2048,
        "yarn.log-aggregation-enable": "false",
        "yarn.application.classpath": f"{home}/etc/hadoop,{home}/lib/*",
    }


def _mapred(home: Path, jars: Path, shuffle_port: str) -> Properties:
    # Jars stand first, for the archive of classes; what YARN and the job have in the class path comes behind them.
    java = f"@{home}/{JAVA_OPTIONS} -cp {jars}/*:$CLASSPATH"
    return {
        "mapreduce.framework.name": "yarn",
        "mapreduce.application.classpath": f"{home}/lib/*",
        "mapreduce.shuffle.port": shuffle_port,
        "yarn.app.mapreduce.am.resource.mb": 512,
        "yarn.app.mapreduce.am.command-opts": f"-Xmx300m {java}",
        "yarn.app.mapreduce.am.scheduler.heartbeat.interval-ms": 250,
        "mapreduce.map.memory.mb": 512,
        "mapreduce.map.java.opts": f"-Xmx200m {java}",
        "mapreduce.map.speculative": "false",
        "mapreduce.reduce.memory.mb": 512,
        "mapreduce.reduce.java.opts": f"-Xmx200m {java}",
        "mapreduce.reduce.speculative": "false",
        "mapreduce.task.io.sort.mb": 32,
        "mapreduce.client.progressmonitor.pollinterval": 250,
        "mapreduce.client.completion.pollinterval": 250,
    }


_SCHEDULER: Properties = {
    "yarn.scheduler.capacity.root.queues": "default",
    "yarn.scheduler.capacity.root.default.capacity": 100,
    "yarn.scheduler.capacity.maximum-am-resource-percent": 0.5,
    "yarn.scheduler.capacity.node-locality-delay": 0,
}


def _xml(properties: Properties) -> str:
    entries = "".join(
        f"  <property><name>{name}</name><value>{escape(str(value))}</value></property>\n"
        for name, value in properties.items()
    )
    return f'<?xml version="1.0"?>\n<configuration>\n{entries}</configuration>\n'
