"""The objects of one tenant in the bucket of one cell: listed, copied to another bucket, erased."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import UUID

import boto3
from botocore.config import Config

from backend.cells.cells_file import Cell

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class TenantObjects:
    """Everything under the tenant's folder of a cell's bucket."""

    def __init__(self, cell: Cell, tenant_id: UUID) -> None:
        environment = cell.environment
        self._client: S3Client = boto3.Session().client(
            "s3",
            endpoint_url=environment.get("S3_ENDPOINT_URL") or None,
            aws_access_key_id=environment.get("S3_ACCESS_KEY_ID") or None,
            aws_secret_access_key=environment.get("S3_SECRET_ACCESS_KEY") or None,
            region_name=environment.get("S3_REGION", "us-east-1"),
            config=Config(
                signature_version="s3v4",
                s3={"addressing_style": "path"},
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                retries={"mode": "standard", "max_attempts": 5},
            ),
        )
        self._bucket = environment["S3_BUCKET"]
        self._prefix = f"t/{tenant_id}/"

    def sizes(self) -> dict[str, int]:
        """Return the size in bytes of each object by its key."""
        pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=self._prefix)
        return {entry["Key"]: entry["Size"] for page in pages for entry in page.get("Contents", [])}

    def copy_to(self, other: TenantObjects, *, sizes: Mapping[str, int]) -> int:
        """Copy the objects that the other bucket lacks and return their number; an upload is whole or absent.

        sizes: those of sizes().
        """
        there = other.sizes()
        missing = [key for key, size in sizes.items() if there.get(key) != size]
        for key in missing:
            reply = self._client.get_object(Bucket=self._bucket, Key=key)
            other._client.upload_fileobj(
                reply["Body"], other._bucket, key, ExtraArgs={"ContentType": reply["ContentType"]}
            )
        return len(missing)

    def erase(self) -> None:
        """Delete the objects and drop unfinished uploads."""
        pages = self._client.get_paginator("list_multipart_uploads")
        for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix):
            for upload in page.get("Uploads", []):
                self._client.abort_multipart_upload(Bucket=self._bucket, Key=upload["Key"], UploadId=upload["UploadId"])
        keys = list(self.sizes())
        for first in range(0, len(keys), 1000):
            batch = [{"Key": key} for key in keys[first : first + 1000]]
            reply = self._client.delete_objects(Bucket=self._bucket, Delete={"Objects": batch, "Quiet": True})  # type: ignore[typeddict-item]
            if errors := reply.get("Errors"):
                raise OSError(f"object storage kept {len(errors)} objects: {errors[0].get('Code', '')}")
