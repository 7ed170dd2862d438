"""Questions about video files through a running service: each file is uploaded once, by its checksum."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from threading import Lock
from typing import Any

from bench.evaluation.deciding import NOTHING, named
from bench.evaluation.videos.manifest import VideoQuestion
from bench.evaluation.videos.results import CitedSpan, VideoAnswer
from gpu_workers.engine.answering.contract import SEARCH_SKIPPED, Effort
from infra.local.demo.client import Client, Json, sha256_of

POLL_S = 2.0
GONE = frozenset({"failed", "deleting"})
OPEN = frozenset({"queued", "running"})


class VideoFailed(Exception):
    """The service cannot index a video."""


@dataclass(frozen=True, slots=True)
class UploadedVideos:
    """The videos of the service. ids: by the stem of the file, once they are ready."""

    client: Client
    files: Mapping[str, Path]
    ids: dict[str, str] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def ready(self, video: str, *, profile: str) -> str:
        """Return the id of a video that is ready, uploading it first if the service does not have it. Raises
        VideoFailed, ApiRefused."""
        with self.lock:
            if video not in self.ids:
                digest = sha256_of(self.files[video])
                name = f"{digest}-{profile}"
                there = [one for one in self.client.pages(f"/videos?external_id={name}") if one["status"] not in GONE]
                uploaded = there[0] if there else self._uploaded(video, digest, name, profile)
                self.ids[video] = self._waited(str(uploaded["id"]))
            return self.ids[video]

    def _uploaded(self, video: str, digest: str, name: str, profile: str) -> Json:
        return self.client.upload(
            self.files[video], sha256=digest, external_id=name, profile=profile, on_sent=lambda sent: None
        )

    def _waited(self, video_id: str) -> str:
        while True:
            video = self.client.call("GET", f"/videos/{video_id}")
            if video["status"] == "failed":
                raise VideoFailed(f"{video_id}: {video['error']['code']}: {video['error']['message']}")
            if video["status"] == "ready":
                return video_id
            time.sleep(POLL_S)


@dataclass(frozen=True, slots=True)
class ServiceArm:
    """Asks one method of the service."""

    method: str
    effort: Effort
    videos: UploadedVideos

    @property
    def settings(self) -> str:
        return repr((self.method, self.effort))

    def ask(self, question: VideoQuestion) -> VideoAnswer:
        client, video_id = self.videos.client, self.videos.ready(question.video, profile=question.profile)
        body: Json = {
            "video_ids": [video_id],
            "question": question.text,
            "method": self.method,
            "effort": self.effort,
            "external_id": question.id[:200],
        }
        if question.choices:
            body["choices"] = list(question.choices)
        asked = client.call("POST", "/questions", body, Prefer="wait=30")
        while asked["status"] in OPEN:
            asked = client.call("GET", f"/questions/{asked['id']}", Prefer="wait=30")
            if asked["status"] in OPEN:
                time.sleep(POLL_S)
        lines = client.lines(f"/questions/{asked['id']}/trace")
        return service_answer(asked, lines)


def service_answer(asked: Json, trace: list[Json]) -> VideoAnswer:
    """Return the answer of a question's body and of the lines of its trace: its outcome, then its nodes."""
    outcome, *nodes = trace
    usage, timings = asked["usage"] or {}, asked["timings"] or {}
    drawn = [sum(bool(candidate["answer"]) for candidate in node["candidates"]) for node in nodes]
    head = str(outcome["decided_by"])
    skipped = any(node["note"] == SEARCH_SKIPPED for node in nodes)
    given = bool(asked["answer"])
    return VideoAnswer(
        asked["answer"],
        asked["choice"],
        asked["finish_reason"] or "error",
        named(head, drawn, search_skipped=skipped) if given else NOTHING,
        asked["finish_detail"] or (asked["error"] or {}).get("code", ""),
        asked["confidence"],
        head,
        tuple(_cited(cited) for cited in asked["evidence"]),
        tuple(asked["degraded"]),
        usage.get("calls", 0),
        prompt_tokens=usage.get("prompt_tokens", 0),
        cached_tokens=usage.get("cached_tokens", 0),
        completion_tokens=usage.get("completion_tokens", 0),
        frames=sum(node["usage"]["frames_used"] for node in nodes),
        cost=Decimal(asked["charge"]["amount"]),
        latency_ms=timings.get("engine_ms", 0),
        model_ms=timings.get("llm_ms", 0),
        version=asked["method_version"],
        prompts=asked["prompts"],
    )


def _cited(cited: Mapping[str, Any]) -> CitedSpan:
    return CitedSpan(cited["start_ms"] / 1000, cited["end_ms"] / 1000, cited["status"], cited["quote"])
