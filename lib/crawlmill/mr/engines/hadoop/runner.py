"""mrjob's Hadoop runner, which here only writes the command of a step; `work.py` runs it.

Differences from mrjob, and their reasons:

* the task list goes to HDFS through our storage, and what a task's folder needs goes there with the job itself
  (`-files` takes local paths): mrjob starts a Java machine for every single file;
* Hadoop's own `_SUCCESS` is always on: it tells whoever finishes the run that a step's output is whole. It is in a
  folder that only the run sees;
* what `streaming.py` says.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from crawlmill.errors import UsageError
from crawlmill.mr.compat import engine_runner
from crawlmill.mr.engines.streaming import StreamingTasks
from crawlmill.storage import Storage
from crawlmill.storage.hdfs.conf import hdfs_user

__all__ = ["HadoopRunner"]

_MRJobHadoopRunner: Any = engine_runner("hadoop")


class HadoopRunner(StreamingTasks, _MRJobHadoopRunner):  # type: ignore[misc]
    """Writes commands. `storage` reaches HDFS, `output` is where the last step writes: a folder that is not there."""

    storage: Storage
    tasks: str
    """The location of the task list, once it is there."""
    alias = "hadoop"

    @classmethod
    def _default_opts(cls) -> dict[str, Any]:
        return {**super()._default_opts(), "hadoop_tmp_dir": ".crawlmill"}

    def _fix_opt(self, opt_key: str, opt_value: Any, source: str) -> Any:
        value = super()._fix_opt(opt_key, opt_value, source)
        if opt_key == "hadoop_tmp_dir" and "://" not in value and not value.startswith("/"):
            return f"hdfs:///user/{hdfs_user()}/{value}"  # mrjob's knows the login name only
        return value

    def find_programs(self) -> None:
        """Find `hadoop` and the streaming jar. Raises: UsageError."""
        binary = self.get_hadoop_bin()[0]
        found = shutil.which(binary)
        if found is None:
            raise UsageError(f"-r hadoop: no {binary} was found (is it on the PATH, or HADOOP_HOME set?)")
        conf = Path(found).resolve().parent.parent / "etc" / "hadoop"
        if conf.is_dir() and not {"HADOOP_CONF_DIR", "HADOOP_HOME"} & set(os.environ):
            os.environ["HADOOP_CONF_DIR"] = str(conf)  # what the program itself would read, for our storage
        jar = self.get_hadoop_streaming_jar()
        if jar is None:
            raise UsageError(
                f"-r hadoop: no hadoop-streaming jar below {Path(found).resolve().parent.parent}, HADOOP_HOME and the "
                "usual places: name it with --hadoop-streaming-jar"
            )
        if "://" not in jar and not Path(jar).is_file():
            raise UsageError(f"-r hadoop: hadoop-streaming jar not found: {jar}")

    @property
    def folder(self) -> str:
        """The run's own folder on HDFS."""
        return str(self._hadoop_tmp_dir)

    def write_to(self, output: str) -> None:
        """Have the last step write to this folder, which is not there yet."""
        self._output_dir = output

    def prepare(self) -> None:
        """Put the task list where Hadoop reads it. Raises: SourceError."""
        self._create_dir_archives()
        self._create_setup_wrapper_scripts()
        for path in self._get_input_paths():
            self.tasks = str(self._upload_mgr.add(path))
            with Path(path).open("rb") as source, self.storage.write(self.tasks) as file:
                shutil.copyfileobj(source, file, 1 << 20)

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return int(self._num_steps())

    def command(self, step: int) -> list[str]:
        """The command that runs a step, and returns when it has ended."""
        return list(self._args_for_step(step))

    def output_of(self, step: int) -> str:
        """The folder that a step writes."""
        return str(self._step_output_uri(step))

    @property
    def binary(self) -> list[str]:
        """`hadoop`, with arguments that it always has."""
        return list(self.get_hadoop_bin())

    def _wd_mirror(self) -> None:
        """No copy of the tasks' files on HDFS: the job's submission makes one."""

    def _jobconf_for_step(self, step_num: int) -> dict[str, Any]:
        ours = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "true"}
        return {**super()._jobconf_for_step(step_num), **ours}

    def _cleanup_hadoop_tmp(self) -> None:
        """Ours to remove, with our storage."""
