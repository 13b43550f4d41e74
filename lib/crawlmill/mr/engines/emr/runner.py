"""mrjob's EMR runner, used here only to write the requests for a cluster and its steps; `work.py` does the rest.

Differences from mrjob, and their reasons:

* files go to S3 through our storage, and each is sent once;
* all steps are submitted at once, so that a job can finish without its launcher; a cluster of the job's own ends
  with them, or with the first that fails;
* roles are not created in the user's account: they are configured, or have EMR's default names;
* the region is us-east-1, where the data is, unless another is configured;
* EMR's logs are not read for counters, which would take minutes;
* pools of clusters are not supported: `--cluster-id` names a waiting cluster;
* the differences listed in `streaming.py`.
"""

from __future__ import annotations

import secrets
import shutil
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final

from crawlmill.errors import CrawlmillError, UsageError
from crawlmill.mr.compat import engine_runner
from crawlmill.mr.engines.emr.aws import Aws, AwsError
from crawlmill.mr.engines.emr.native import NAME, native_archive
from crawlmill.mr.engines.streaming import StreamingTasks
from crawlmill.mr.run.conf import endpoint_url
from crawlmill.mr.run.credentials import credentials_of, lend
from crawlmill.storage import Storage, StorageOptions

__all__ = ["EmrRunner"]

_MRJobEMRRunner: Any = engine_runner("emr")
_RELEASE: Final = "7.14.0"
_USUAL: Final = "us-east-1"  # where S3 creates a bucket if no region is given
# A busy node may take longer than botocore's one second to respond, and without credentials a task reads nothing.
_METADATA_SERVICE: Final = {"AWS_METADATA_SERVICE_TIMEOUT": "5", "AWS_METADATA_SERVICE_NUM_ATTEMPTS": "5"}


class EmrRunner(StreamingTasks, _MRJobEMRRunner):  # type: ignore[misc]
    """Writes requests. `folder` is the run's own on S3; if its bucket must be created first, that is `new_bucket`.

    Raises:
        UsageError: A setting is invalid, or there are no credentials.
    """

    alias = "emr"
    OPT_NAMES: ClassVar[set[str]] = {*_MRJobEMRRunner.OPT_NAMES, "s3_sse", "s3_sse_kms_key_id"}
    new_bucket: str | None = None
    _native = False

    @classmethod
    def _default_opts(cls) -> dict[str, Any]:
        ours = {
            "region": None,
            "image_version": _RELEASE,
            "iam_instance_profile": "EMR_EC2_DefaultRole",
            "iam_service_role": "EMR_DefaultRole",
        }
        return {**super()._default_opts(), **ours}

    def _fix_opt(self, opt_key: str, opt_value: Any, source: str) -> Any:
        return opt_value if opt_key == "region" else super()._fix_opt(opt_key, opt_value, source)

    def _fix_s3_tmp_and_log_uri_opts(self) -> None:
        for option in ("cloud_tmp_dir", "cloud_log_dir"):
            if self._opts[option] and not self._opts[option].startswith("s3://"):
                raise UsageError(f"-r emr: {option}: expected s3://BUCKET/…, got {self._opts[option]!r}")
        if self._opts["pool_clusters"]:
            raise UsageError("-r emr: pool_clusters is not supported: name a cluster with --cluster-id")
        if not self._opts["cloud_tmp_dir"]:
            self._opts["cloud_tmp_dir"] = f"s3://{self._usual_bucket()}/tmp/"  # noqa: S108 - mrjob's, on S3
        super()._fix_s3_tmp_and_log_uri_opts()

    def _usual_bucket(self) -> str:
        """As in mrjob: a bucket in the region whose name begins with `mrjob-`, or else a new one."""
        try:
            for bucket in self.aws.ask("s3", "list_buckets")["Buckets"]:
                if bucket["Name"].startswith("mrjob-") and self.aws.region_of(bucket["Name"]) == self.aws.region:
                    return str(bucket["Name"])
        except AwsError as error:
            raise UsageError(
                f"-r emr: {error}: name a folder for temporary files with --cloud-tmp-dir s3://BUCKET/tmp/, or as "
                "cloud_tmp_dir in mrjob.conf"
            ) from error
        self.new_bucket = f"mrjob-{secrets.token_hex(8)}"
        return self.new_bucket

    @cached_property
    def aws(self) -> Aws:
        """Amazon's services with the endpoints of mrjob.conf and the command line.

        Raises:
            UsageError: The AWS configuration cannot be used, or there are no credentials.
        """
        endpoints = {name: endpoint_url(self._opts[f"{name}_endpoint"]) for name in ("emr", "ec2", "iam", "s3")}
        try:
            aws = Aws(self._opts["region"], endpoints, credentials_of(self._opts))
        except CrawlmillError as error:
            raise UsageError(f"-r emr: {error}") from error
        if not aws.has_credentials:
            raise UsageError("-r emr: no AWS credentials are found (environment, ~/.aws, role of the machine)")
        return aws

    @property
    def storage_options(self) -> StorageOptions:
        """Storage options with the S3 settings of mrjob.conf and the command line. Raises: UsageError."""
        sse = self._opts["s3_sse"]
        key = self._opts["s3_sse_kms_key_id"] if sse != "AES256" else None
        return StorageOptions(s3_endpoint=self.aws.endpoints.get("s3"), s3_sse=sse, s3_sse_kms_key_id=key)

    def lend_credentials(self) -> None:
        """Put credentials from mrjob.conf, if any, into the environment, where our storage finds them."""
        lend(credentials_of(self._opts))

    def setting(self, name: str) -> Any:
        """A setting of mrjob.conf or the command line."""
        return self._opts[name]

    @property
    def folder(self) -> str:
        """The run's own folder on S3."""
        return str(self._cloud_tmp_dir)

    def _default_step_output_dir(self) -> str:
        if self.surveys:  # tasks read the findings like everything else: from S3
            return f"{self.folder.rstrip('/')}/step-output"
        return str(super()._default_step_output_dir())

    def prepare(self) -> None:
        """Determine which files must be on S3 before the cluster starts."""
        self._create_dir_archives()
        for path in self._get_input_paths():
            self._upload_mgr.add(path)
        self._create_setup_wrapper_scripts()
        self._add_bootstrap_files_for_upload()
        self._add_master_node_setup_files_for_upload()
        if self._opts["hadoop_streaming_jar"]:
            self._upload_mgr.add(self._opts["hadoop_streaming_jar"])

    def prepare_cluster(self) -> None:
        """Determine which files must be on S3 before a cluster without steps starts."""
        self._create_dir_archives()
        self._add_bootstrap_files_for_upload()

    def upload(self, storage: Storage) -> None:
        """Upload these files. Raises: AwsError, SourceError."""
        if self.new_bucket:
            elsewhere = {"CreateBucketConfiguration": {"LocationConstraint": self.aws.region}}
            self.aws.ask(
                "s3", "create_bucket", Bucket=self.new_bucket, **({} if self.aws.region == _USUAL else elsewhere)
            )
        wanted: dict[str, str] = {uri: path for path, uri in self._upload_mgr.path_to_uri().items()}
        for kind in ("file", "archive_file"):
            for name, path in self._working_dir_mgr.name_to_path(kind).items():
                wanted[self._dest_in_wd_mirror(path, name) or path] = path
        for uri, path in wanted.items():
            if uri != path:
                with Path(path).open("rb") as source, storage.write(uri) as file:
                    shutil.copyfileobj(source, file, 1 << 20)

    @property
    def tasks(self) -> str:
        """The location of the task list."""
        return str(self._upload_mgr.uri(self._get_input_paths()[0]))

    def steps(self) -> list[dict[str, Any]]:
        """The steps, in the form that EMR's API expects."""
        return list(self._steps_to_submit())

    def cluster(self) -> dict[str, Any]:
        """The request for a cluster of the job's own, which ends after its steps."""
        request = self.cluster_alone(crawlmill=self.key)
        request["Steps"] = [*request.get("Steps", ()), *self.steps()]
        return request

    def cluster_alone(self, **more_tags: str) -> dict[str, Any]:
        """The request for a cluster without steps."""
        request: dict[str, Any] = self._cluster_kwargs()
        tags = {**self._opts["tags"], **more_tags}
        if self.storage_options.s3_sse_kms_key_id:  # otherwise EMR's logs are encrypted with S3's own keys
            request.setdefault("LogEncryptionKmsKeyId", self.storage_options.s3_sse_kms_key_id)
        request["Tags"] = [{"Key": name, "Value": str(value)} for name, value in sorted(tags.items())]
        return request

    def waiting_cluster(self, idle_s: int | None = None) -> dict[str, Any]:
        """The request for a cluster that waits for jobs, and ends after being idle for so long."""
        request = self.cluster_alone()
        request["Instances"]["KeepJobFlowAliveWhenNoSteps"] = True
        idle = int(float(self._opts["max_mins_idle"]) * 60) if idle_s is None else idle_s
        request["AutoTerminationPolicy"] = {"IdleTimeout": idle}
        return request

    @property
    def jobs(self) -> int:
        """The number of Hadoop jobs, which run one after the other."""
        return int(self._num_steps())

    @property
    def own_cluster(self) -> bool:
        """Whether the run has a cluster of its own."""
        return not self._opts["cluster_id"]

    def ship_native(self, archive: Path) -> list[str]:
        """Ship the native core, if there is one and the user does not install it; returns the architectures."""
        if any(name in str(self._opts["bootstrap"]) for name in ("crawlmill_native", "crawlmill-native")):
            return []
        if machines := native_archive(archive):
            self._working_dir_mgr.add("archive", str(archive), name=NAME)
            self._native = True
        return machines

    def _cmdenv(self) -> dict[str, str]:
        given = {**_METADATA_SERVICE, **super()._cmdenv()}
        if self._native:
            given["PYTHONPATH"] += f":{NAME}"
        return given

    def get_image_version(self) -> str:
        """The Hadoop version, which mrjob would ask the cluster for."""
        return str(self._opts["release_label"]).removeprefix("emr-")

    @property
    def action_on_failure(self) -> str:
        """What EMR does if a step fails: continue with other people's steps. The launcher cancels the rest of ours."""
        return str(self._opts["emr_action_on_failure"] or ("TERMINATE_CLUSTER" if self.own_cluster else "CONTINUE"))

    def _action_on_failure(self) -> str:
        return self.action_on_failure

    def _cleanup_cloud_tmp(self) -> None:
        """Do nothing: we remove it, with our storage."""

    def _cleanup_logs(self) -> None:
        """Do nothing: EMR still writes logs after the run."""
