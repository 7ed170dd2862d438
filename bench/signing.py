"""What the signer costs a segment: its URL and its pictures through a real signer, over the same with the key."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bench.figures import Figures, at_most, ratio, side_by_side
from bench.stack import IndexedVideo, database
from infra.local import ports
from infra.local.stack import Stack

REPEATS = 40
PICTURES = 10
"""Pictures of a segment of 30 s: one for each chunk of 3 s."""
PICTURE_BYTES = 20_000


def signing() -> Figures:
    root = Path(tempfile.mkdtemp(prefix="ava-bench-"))
    try:
        with ExitStack() as opened:
            storage = opened.enter_context(Stack(root, frozenset({"seaweedfs"}), durable=False, environ={**os.environ}))
            video = opened.enter_context(database())
            yield at_most(
                "signed_segment_ratio",
                _ratio(video, storage, opened),
                2.0,
                f"a URL of a recording and {PICTURES} pictures of {PICTURE_BYTES // 1000} kB by a process with the key",
            )
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _ratio(video: IndexedVideo, storage: Stack, opened: ExitStack) -> float:
    from django.conf import settings

    from backend.env import SIGNER_KEYS
    from backend.library.storage import ObjectStorage, version_prefix
    from workers.objects.signed_storage import SignedStorage

    keys = {variable: secrets.token_hex(16) for variable in SIGNER_KEYS.values()}
    port = ports.claim(storage.state, "signer")
    served = storage.env()
    settings_of_signer = {**os.environ, **served, **keys, "AVA_PROCESS": "signer"}
    command = [sys.executable, "manage.py", "sign_objects", f"--port={port}"]
    signer = subprocess.Popen(command, env=settings_of_signer, stdout=subprocess.PIPE, text=True)
    opened.callback(_stop, signer)
    assert signer.stdout is not None
    if "signer ready" not in signer.stdout.readline():
        raise RuntimeError("the signer did not start")

    given: dict[str, Any] = {name: served[name] for name in served if name.startswith("S3_")}
    given |= {"SIGNER_URL": f"http://127.0.0.1:{port}/", "SIGNER_KEY": keys[SIGNER_KEYS["gpu.index"]]}
    for name, value in given.items():
        opened.enter_context(patch.object(settings, name, value))
    lease, source = _observing(video)
    folder = f"{version_prefix(video.tenant_id, video.video_id, 1)}frames/"
    keys_of_pictures = [f"{folder}{number}.jpg" for number in range(PICTURES)]
    picture = os.urandom(PICTURE_BYTES)

    def store(objects: ObjectStorage) -> None:
        objects.presign_get(source)
        put = objects.putter({key: len(picture) for key in keys_of_pictures}, content_type="image/jpeg")
        for key in keys_of_pictures:
            put(key, picture)

    own, signed = ObjectStorage(), SignedStorage(lease)
    for objects in (own, signed):
        store(objects)
    by_signer, by_key = side_by_side(REPEATS, lambda: store(signed), lambda: store(own))
    return ratio(by_signer, by_key)


def _observing(video: IndexedVideo) -> tuple[Any, str]:
    """Return the lease of a segment's job, held for as long as the measurement takes, and the key of the recording."""
    from datetime import timedelta

    from django.utils import timezone

    from backend.jobs import services
    from backend.jobs.models import Job, JobKind
    from backend.library.models import Segment, Video
    from backend.library.storage import source_key
    from backend.tenancy.context import tenant_scope

    with tenant_scope(video.tenant_id):
        key = source_key(video.tenant_id, video.video_id)
        Video.objects.filter(id=video.video_id).update(object_key=key)
        segment = Segment.objects.create(
            tenant_id=video.tenant_id, video_id=video.video_id, index_version=1, n=0, start_ms=0, end_ms=30_000
        )
        job = services.enqueue(kind=JobKind.OBSERVE_SEGMENT, subject_id=segment.id, dedupe_key="bench")
        lease = services.claim(job.id, worker="bench:1")
        if lease is None:
            raise RuntimeError("the job cannot be claimed")
        Job.objects.filter(id=job.id).update(lease_until=timezone.now() + timedelta(hours=1))
    return lease, key


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    process.wait()
