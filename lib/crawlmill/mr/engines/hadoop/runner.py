"""mrjob's Hadoop runner, used here only to write the command of a step; `work.py` runs it.

Differences from mrjob, and their reasons:

* the task list goes to HDFS through our storage, and the files of a task's folder are sent with the job itself
  (`-files` takes local paths): mrjob starts a Java VM for every single file;
* Hadoop's own `_SUCCESS` is always on: it tells `ledger --collect` that a step's output is complete. It is in a folder
  that only the run sees;
* the differences listed in `streaming.py`.
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
    """Writes commands. `storage` opens HDFS; `output` is a new folder that the last step writes to."""

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
            return f"hdfs:///user/{hdfs_user()}/{value}"  # mrjob's own default uses the login name
        return value

    def find_programs(self) -> None:
        """Find `hadoop` and the streaming jar. Raises: UsageError."""
        binary = self.get_hadoop_bin()[0]
        found = shutil.which(binary)
        if found is None:
            raise UsageError(f"-r hadoop: no {binary} was found (is it on the PATH, or HADOOP_HOME set?)")
        conf = Path(found).resolve().parent.parent / "etc" / "hadoop"
        if conf.is_dir() and not {"HADOOP_CONF_DIR", "HADOOP_HOME"} & set(os.environ):
            os.environ["HADOOP_CONF_DIR"] = str(conf)  # the configuration that the program would read, for our storage
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
        """Set the folder that the last step writes to; it must not exist yet."""
        self._output_dir = output

    def prepare(self) -> None:
        """Upload the task list to HDFS. Raises: SourceError."""
        self._create_dir_archives()
        self._create_setup_wrapper_scripts()
        for path in self._get_input_paths():
            self.tasks = str(self._upload_mgr.add(path))
            with Path(path).open("rb") as source, self.storage.write(self.tasks) as file:
                shutil.copyfileobj(source, file, 1 << 20)

    @property
    def steps(self) -> int:
        """The number of steps."""
        return int(self._num_steps())

    def command(self, step: int) -> list[str]:
        """The command that runs a step and returns when it has ended."""
        return list(self._args_for_step(step))

    def output_of(self, step: int) -> str:
        """The output folder of a step."""
        return str(self._step_output_uri(step))

    @property
    def binary(self) -> list[str]:
        """`hadoop`, with the arguments that it always gets."""
        return list(self.get_hadoop_bin())

    def _wd_mirror(self) -> None:
        """Do nothing: job submission copies the tasks' files to HDFS."""

    def _jobconf_for_step(self, step_num: int) -> dict[str, Any]:
        ours = {"mapreduce.fileoutputcommitter.marksuccessfuljobs": "true"}
        return {**super()._jobconf_for_step(step_num), **ours}

    def _cleanup_hadoop_tmp(self) -> None:
        """Do nothing: we remove it, with our storage."""
