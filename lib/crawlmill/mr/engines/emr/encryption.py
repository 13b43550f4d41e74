"""Encryption settings for everything in a run on EMR that writes to S3, other than our own storage.

A bucket may refuse uploads without an encryption header. Our storage sends the header if its options say so; Hadoop
takes it from job properties, and `aws s3 cp`, with which failing tasks report, from its options.

Spec: Hadoop 3.4, "Working with Encrypted S3 Data" (S3A: `fs.s3a.encryption.*`); Amazon EMR Release Guide, "Specifying
Amazon S3 encryption using EMRFS properties" (`fs.s3.*`, which releases before 7.10 use) and "Migration Guide: EMRFS to
S3A Filesystem"; AWS CLI, `s3 cp`.
"""

from __future__ import annotations

from typing import Final

from crawlmill.storage import StorageOptions

__all__ = ["hadoop_properties", "with_report_options"]

_OF_S3A: Final = {"AES256": "SSE-S3", "aws:kms": "SSE-KMS"}


def hadoop_properties(options: StorageOptions) -> dict[str, str]:
    """The properties for both of Hadoop's S3 file systems (the release decides which is used); empty by default."""
    if options.s3_sse is None:
        return {}
    found = {"fs.s3a.encryption.algorithm": _OF_S3A[options.s3_sse], "fs.s3.enableServerSideEncryption": "true"}
    if key := options.s3_sse_kms_key_id:
        found |= {"fs.s3a.encryption.key": key, "fs.s3.serverSideEncryption.kms.keyId": key}
    return found


def with_report_options(folder: str, options: StorageOptions) -> str:
    """The folder for reports of failing tasks (`failure_report`), with the options for `aws s3 cp`."""
    given = {"sse": options.s3_sse, "sse-kms-key-id": options.s3_sse_kms_key_id}
    query = "&".join(f"{name}={value}" for name, value in given.items() if value)
    return f"{folder}?{query}" if query else folder
