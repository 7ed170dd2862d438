"""The `data` of the webhook events about clips."""

from __future__ import annotations

from typing import Any

from backend.api import public_ids
from backend.clips.models import Clip
from backend.webhooks.payloads import error_data, timestamp


def clip_data(clip: Clip) -> dict[str, Any]:
    return {
        "id": public_ids.encode("clp", clip.id),
        "object": "clip",
        "status": clip.status,
        "video_id": public_ids.encode("vid", clip.video_id),
        "question_id": None if clip.question_id is None else public_ids.encode("qst", clip.question_id),
        "start_ms": clip.start_ms,
        "end_ms": clip.end_ms,
        "ready_at": timestamp(clip.ready_at),
        "expires_at": timestamp(clip.expires_at),
        "error": error_data(clip.error_code, clip.error_message),
    }
