"""Customers who use the API while it suffers: each sends a request again, under the same key, until it is answered."""

from __future__ import annotations

import hashlib
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx

from infra.local import ffmpeg
from tests.tasks.eyes import BLUE, GREEN, RED

Json = dict[str, Any]

PATIENCE_S = 240.0
POLL_S = 0.3
CLIPS = {
    "acme": ((RED, 9), (GREEN, 6)),
    "globex": ((GREEN, 6), (BLUE, 6), (RED, 3)),
    "initech": ((BLUE, 12),),
}
"""Recording of each tenant: colours and their seconds."""
QUESTION = {"question": "What is seen first?", "choices": ["a bus stop", "the sea"], "effort": "low"}


class GaveUp(Exception):
    """A request had no good answer for as long as a customer waits."""


class Impatience:
    """When customers give up, because a run takes too long."""

    def __init__(self, seconds: float = PATIENCE_S) -> None:
        self.at = time.monotonic() + seconds
        self.now = threading.Event()

    def check(self, what: str) -> None:
        if self.now.is_set() or time.monotonic() > self.at:
            raise GaveUp(what)


def write_clip(path: Path, scenes: tuple[tuple[str, int], ...]) -> Path:
    """Write a real MP4 of plain scenes with a white square that moves."""
    inputs: list[str] = []
    for colour, seconds in scenes:
        inputs += ["-f", "lavfi", "-i", f"color=c={colour}:s=96x64:r=10:d={seconds}"]
    moving = "overlay=x='mod(20*t,84)':y=26:shortest=1"
    joined = f"concat=n={len(scenes)}:v=1:a=0[scenes];color=c=white:s=12x12:r=10[square];[scenes][square]{moving}"
    command = [str(ffmpeg.ffmpeg()), "-nostdin", "-v", "error", *inputs, "-filter_complex", joined]
    subprocess.run([*command, "-c:v", "mpeg4", "-q:v", "2", "-g", "10", "-y", str(path)], check=True)
    return path


class Customer:
    """One tenant's client. Every call is repeated until the service answers with something other than a fault."""

    def __init__(self, slug: str, tenant_id: str, url: str, key: str, clip: Path) -> None:
        self.slug, self.tenant_id, self.clip = slug, tenant_id, clip
        self.impatience = Impatience()
        self._http = httpx.Client(
            base_url=f"{url}/v1", headers={"Authorization": f"Bearer {key}"}, timeout=15, trust_env=False
        )
        self._plain = httpx.Client(timeout=15, trust_env=False)

    def call(self, method: str, path: str, body: Json | None = None, *, missing: Json | None = None) -> Json:
        """Send a request until it is accepted. missing: what a 404 counts as."""
        headers = {"Idempotency-Key": str(uuid4())} if method == "POST" else {}
        while True:
            self.impatience.check(f"{self.slug}: {method} {path}")
            try:
                response = self._http.request(method, path, json=body, headers=headers)
            except httpx.TransportError:
                time.sleep(POLL_S)
                continue
            if response.status_code < 400:
                return response.json() if response.content else {}
            if response.status_code == 404 and missing is not None:
                return missing
            if response.status_code < 500 and response.status_code not in (409, 429):
                raise AssertionError(f"{method} {path}: {response.status_code} {response.text[:500]}")
            self._refused = f"{response.status_code} {response.text[:300]}"
            time.sleep(POLL_S)

    def pages(self, path: str) -> Iterator[Json]:
        cursor = ""
        while True:
            page = self.call("GET", f"{path}{'&' if '?' in path else '?'}limit=100{cursor}")
            yield from page["data"]
            if not page["next_cursor"]:
                return
            cursor = f"&cursor={page['next_cursor']}"

    def register(self, receiver_url: str) -> None:
        self.call("POST", "/webhook-endpoints", {"url": receiver_url, "description": "chaos", "event_types": []})

    def upload(self, external_id: str) -> str:
        """Upload the tenant's recording as a new video, and return the video's id."""
        content = self.clip.read_bytes()
        upload = self.call(
            "POST",
            "/uploads",
            {
                "filename": self.clip.name,
                "size_bytes": len(content),
                "content_type": "video/mp4",
                "part_checksums": True,
                "title": external_id,
                "external_id": external_id,
            },
        )
        checksum = hashlib.sha256(content).hexdigest()
        etag = self._put(upload["id"], content, checksum)
        part = {"part_number": 1, "etag": etag, "sha256": checksum}
        return str(self.call("POST", f"/uploads/{upload['id']}/complete", {"parts": [part]})["id"])

    def _put(self, upload_id: str, content: bytes, checksum: str) -> str:
        while True:
            self.impatience.check(f"{self.slug}: PUT of a part")
            wanted = {"part_numbers": [1], "checksums": {"1": checksum}}
            signed = self.call("POST", f"/uploads/{upload_id}/part-urls", wanted)["data"][0]
            try:
                sent = self._plain.put(signed["url"], content=content, headers=signed["headers"])
            except httpx.TransportError:
                time.sleep(POLL_S)
                continue
            if sent.status_code == 200:
                return str(sent.headers["etag"])
            time.sleep(POLL_S)

    def ask(self, video_id: str) -> str:
        return str(self.call("POST", "/questions", {**QUESTION, "video_ids": [video_id]})["id"])

    def ended(self, path: str, *, open_in: frozenset[str]) -> Json:
        """Return a resource once its status is none of these."""
        while True:
            self.impatience.check(f"{self.slug}: {path} does not end")
            found = self.call("GET", path)
            if found["status"] not in open_in:
                return found
            time.sleep(POLL_S)

    def video(self, video_id: str) -> Json:
        return self.ended(f"/videos/{video_id}", open_in=frozenset({"queued", "probing", "indexing", "uploading"}))

    def answer(self, question_id: str) -> Json:
        return self.ended(f"/questions/{question_id}", open_in=frozenset({"queued", "running"}))

    def begun(self, question_id: str) -> None:
        """Wait until a worker has begun with a question."""
        self.ended(f"/questions/{question_id}", open_in=frozenset({"queued"}))

    def delete(self, video_id: str) -> None:
        """Delete a video and wait until it is gone."""
        self.call("DELETE", f"/videos/{video_id}", missing={})
        while self.call("GET", f"/videos/{video_id}", missing={}):
            self.impatience.check(f"{self.slug}: {video_id} is not deleted")
            time.sleep(POLL_S)
